import { type JsonValue, UserError } from '@hidden-schema/base';
import { z } from 'zod';
import { MAIN_SETTINGS } from './main-settings.ts';
import { isKind, modelKinds, schemas } from './settings.ts';

type JsonSchema = { [key: string]: JsonValue } & { properties?: Record<string, JsonSchema> };

/**
 * JSON schema of the settings of one kind of model, or of any: for editors, and for programs that write settings. It
 * describes the main settings and accepts the advanced ones by name; `all` describes both and marks the advanced ones.
 */
export function settingsJsonSchema(kind?: string, { all = false }: { all?: boolean } = {}): JsonValue {
  if (kind !== undefined && !isKind(kind)) throw new UserError(`settings are of ${modelKinds}; got ${kind}`);
  const kinds = kind === undefined ? Object.values(schemas) : [schemas[kind]];
  const [first, ...others] = kinds.map((schema) => z.toJSONSchema(schema, { io: 'input' }));
  const { $schema } = first!;
  const plain = [first!, ...others].map(({ $schema: _, ...rest }) =>
    grouped(rest as unknown as JsonSchema, '', all),
  );
  const body = plain.length === 1 ? plain[0]! : { anyOf: plain };
  return { $schema: $schema as string, title: 'Settings of hsn train', ...body };
}

/** The same schema with its main settings described; the others are marked, or reduced to their names. */
function grouped(schema: JsonSchema, place: string, all: boolean): JsonSchema {
  const description = MAIN_SETTINGS[place];
  if (description !== undefined) return { description, ...schema };
  if (!schema.properties) return { $comment: 'advanced', ...schema };
  const inner = Object.entries(schema.properties).map(([key, value]) => {
    const at = place === '' ? key : `${place}.${key}`;
    return { key, schema: grouped(value, at, all), main: hasMain(at) };
  });
  const shown = inner.filter(({ main }) => all || main);
  const hidden = inner.flatMap(({ key, main }) => (all || main ? [] : [key]));
  return {
    ...schema,
    properties: Object.fromEntries(shown.map((one) => [one.key, one.schema])),
    ...(hidden.length > 0 ? { patternProperties: { [`^(${hidden.join('|')})$`]: {} } } : {}),
  };
}

/** Whether a setting, or one of those within it, is a main one. */
const hasMain = (place: string): boolean =>
  Object.keys(MAIN_SETTINGS).some((main) => main === place || main.startsWith(`${place}.`));
