import { UserError } from '@hidden-schema/base/errors';
import { z } from 'zod';
import type { Analysis, Flag } from './analysis.ts';

/** An option as a text can give it: its flag, what it takes, and how its text is read. */
export interface OptionForm {
  option: string;
  flag: string;
  /** Of its value in the help. */
  value: string;
  description: string;
  required: boolean;
  default: unknown;
  takes: string;
  /** As the help writes it, where it has no flag. */
  argument: string | undefined;
  /** Its verb reads it in a way of its own. */
  own: boolean;
  /** The value that a text stands for; wrong texts stay wrong, and the option's schema refuses them. */
  read(text: string): unknown;
}

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  description?: string;
  default?: unknown;
}

/** The options of an analysis as texts can give them, from its schema. */
export function optionForms({ options, flags = {} }: Pick<Analysis, 'options' | 'flags'>): OptionForm[] {
  const { properties = {}, required = [] } = z.toJSONSchema(options, { io: 'input' }) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([option, schema]) => {
    const { name, value, takes, argument, own = false }: Flag = flags[option] ?? {};
    return {
      ...{ option, argument, own, default: schema.default, description: schema.description ?? '' },
      flag: name ?? option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      value: value ?? (isNumber(schema) ? 'n' : 'text'),
      required: required.includes(option),
      takes: takes ?? takenBy(schema),
      read: (text: string) => readValue(text, schema),
    };
  });
}

const isNumber = ({ type }: JsonSchema): boolean => type === 'integer' || type === 'number';

function takenBy(schema: JsonSchema): string {
  const { type, enum: choices, minimum, items } = schema;
  if (choices) return `one of ${choices.join(', ')}`;
  if (type === 'integer') return `a whole number from ${minimum ?? 0}`;
  if (type === 'number') return 'a number';
  if (type === 'array') return items && isNumber(items) ? 'numbers with commas between' : 'a list';
  return 'a text';
}

function readValue(text: string, schema: JsonSchema): unknown {
  const { type, items = {}, prefixItems } = schema;
  if (isNumber(schema)) return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  if (type !== 'array' && !prefixItems) return text;
  const parts = isNumber(items) ? text.split(/[\s,]+/) : text.split(',');
  return parts.map((part) => readValue(part.trim(), items));
}

/** Options with their defaults; wrong ones are refused in a line. */
export function checkOptions<Options extends z.ZodObject>(
  analysis: Pick<Analysis<Options>, 'name' | 'options' | 'flags'>,
  options: unknown,
): z.output<Options> {
  const asked = analysis.options.safeParse(options);
  if (asked.success) return asked.data;
  throw optionFault(analysis as unknown as Analysis, options, asked.error);
}

/** The first wrong option in a line; flags are named, and a caller without flags translates. */
function optionFault(analysis: Analysis, options: unknown, error: z.ZodError): UserError {
  const [issue] = error.issues;
  const forms = optionForms(analysis);
  const named = issue!.code === 'unrecognized_keys' ? issue!.keys[0]! : String(issue!.path[0] ?? '');
  const form = forms.find(({ option }) => option === named);
  if (!form) {
    const known = forms.map(({ option }) => option).join(', ');
    return new UserError(`${analysis.name} has no option ${named || 'of this form'}; it has ${known}`);
  }
  return new UserError(wrongValue(form, (options as Record<string, unknown>)[named]));
}

/** What a flag takes, and what came. */
const wrongValue = ({ flag, takes }: OptionForm, value: unknown): string =>
  `--${flag} takes ${takes}, got ${Array.isArray(value) ? value.join() : value}`;
