// node --import tsx checks/settings.ts           fails where docs/reference/settings.md or the schema of experiments is old
// node --import tsx checks/settings.ts --write   writes both
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { discoveringDefaults } from '../packages/hsn/src/config/settings-schema.ts';
import { MAIN_SETTINGS, settingsJsonSchema } from '../packages/hsn/src/config/json-schema.ts';
import { loadConfig, settingValues } from '../packages/hsn/src/config/settings.ts';

const PAGE = fileURLToPath(new URL('../docs/reference/settings.md', import.meta.url));
const SCHEMA = fileURLToPath(new URL('../experiments/settings.schema.json', import.meta.url));
const KINDS = { language: 'texts', reasoning: 'tuples', synthetic: 'synthetic' } as const;
type Kind = keyof typeof KINDS;

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  enum?: string[];
  const?: string;
  type?: string;
  anyOf?: JsonSchema[];
}

/** The values that a setting may have, each in words. */
function valuesOf(schema: JsonSchema): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(valuesOf);
  const names = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  if (names.length > 0) return names.map((name) => `\`${name}\``);
  const kinds: Record<string, string> = { integer: 'whole number', array: 'list', object: 'settings' };
  return [kinds[schema.type ?? ''] ?? schema.type ?? 'any'];
}

/** Settings by their places, those within a setting after one another. */
function* places(schema: JsonSchema, place = ''): Generator<[place: string, values: string[]]> {
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const at = place === '' ? key : `${place}.${key}`;
    if (inner.properties) yield* places(inner, at);
    else yield [at, valuesOf(inner)];
  }
}

/** The defaults of `hsn train` for a kind of data. */
function defaultsOf(kind: Kind): Record<string, string> {
  const needed = kind === 'synthetic' ? ['symbols=2', 'length=2'] : [];
  const config = loadConfig('', 'the defaults', needed, { fallback: kind, beneath: discoveringDefaults });
  const values = settingValues(config);
  return kind === 'synthetic' ? { ...values, symbols: 'to be given', length: 'to be given' } : values;
}

/** For each setting what it may be, and by default is, in each kind of run. */
function settings(): Map<string, { values: Set<string>; defaults: Map<Kind, string> }> {
  const found = new Map<string, { values: Set<string>; defaults: Map<Kind, string> }>();
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const defaults = defaultsOf(kind);
    for (const [place, values] of places(settingsJsonSchema(kind, { all: true }) as JsonSchema)) {
      const one = found.get(place) ?? { values: new Set(), defaults: new Map() };
      found.set(place, one);
      for (const value of values) one.values.add(value);
      one.defaults.set(kind, defaults[place] ?? 'none');
    }
  }
  return found;
}

/** One default for all kinds that have the setting, or each with its own. */
function shownDefault(defaults: ReadonlyMap<Kind, string>): string {
  if (new Set(defaults.values()).size === 1 && defaults.size === 3) return [...defaults.values()][0]!;
  const kinds = [...new Set(defaults.values())].map((value) => {
    const same = [...defaults].filter(([, other]) => other === value).map(([kind]) => KINDS[kind]);
    return `${value} (${same.join(', ')})`;
  });
  return kinds.join('; ');
}

function tables(): { main: string; advanced: string } {
  const rows = [...settings()].map(([place, { values, defaults }]) => ({
    ...{ place, default: shownDefault(defaults), values: [...values].join(', ') },
  }));
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const line = (cells: string[]) => `| ${cells.map(cell).join(' | ')} |`;
  const head = (...names: string[]) => [line(names), `|${'---|'.repeat(names.length)}`];
  const main = Object.entries(MAIN_SETTINGS).map(([place, meaning]) => {
    const row = rows.find((one) => one.place === place)!;
    return line([`\`${place}\``, place === 'model' ? 'by the corpus' : row.default, meaning]);
  });
  const advanced = rows
    .filter(({ place }) => !Object.hasOwn(MAIN_SETTINGS, place))
    .map((row) => line([`\`${row.place}\``, row.default, row.values]));
  return {
    main: [...head('setting', 'default', 'meaning'), ...main].join('\n'),
    advanced: [...head('setting', 'default', 'values'), ...advanced].join('\n'),
  };
}

function page(text: string): string {
  const made = tables();
  return text.replace(
    /(<!-- (main|advanced) settings: [^>]*-->\n)[\s\S]*?(?=<!-- end -->)/g,
    (_, mark: string, group: 'main' | 'advanced') => `${mark}\n${made[group]}\n\n`,
  );
}

const files: [string, string][] = [
  [PAGE, page(fs.readFileSync(PAGE, 'utf8'))],
  [SCHEMA, `${JSON.stringify(settingsJsonSchema(undefined, { all: true }), null, 2)}\n`],
];
for (const [file, text] of files) {
  if (process.argv.includes('--write')) fs.writeFileSync(file, text);
  else if (fs.readFileSync(file, 'utf8') !== text) {
    process.stderr.write(
      `${file} is not what the settings give: node --import tsx checks/settings.ts --write\n`,
    );
    process.exitCode = 1;
  }
}
