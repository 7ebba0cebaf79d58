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
    const { name, value, takes, argument }: Flag = flags[option] ?? {};
    return {
      ...{ option, argument, default: schema.default, description: schema.description ?? '' },
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
  return text.split(',').map((part) => readValue(part.trim(), items));
}
