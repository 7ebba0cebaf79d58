import { formatMeanSd } from '@hidden-schema/base/tables';
import { z } from 'zod';

/** A value, a word, a value with its share in brackets, a mean with its deviation over seeds, or nothing. */
const cellSchema = z.union([
  z.number(),
  z.string(),
  z.tuple([z.number(), z.number()]),
  z.strictObject({ mean: z.number(), sd: z.number().optional(), count: z.int().positive() }),
  z.null(),
]);

export type ResultCell = z.infer<typeof cellSchema>;

/** How, when and on what it was measured: enough to measure it again. */
const measured = {
  what: z.string().min(10),
  command: z.string().min(3),
  /** Whose settings: the paper's or the authors' to the letter, near the paper's, or ours. */
  preset: z.enum(['paper', 'authors', 'near', 'ours']),
  date: z.iso.date(),
  commit: z.string().regex(/^[0-9a-f]{7,40}$/),
  /** Source files that differed from that commit. */
  changes: z.int().positive().optional(),
  hardware: z.string().min(3),
  seeds: z.array(z.int()).min(1),
};

const tableSchema = z
  .strictObject({
    ...measured,
    columns: z.array(z.strictObject({ name: z.string(), digits: z.int().min(0).max(6).optional() })).min(1),
    rows: z.array(z.array(cellSchema)).min(1),
  })
  .refine(({ columns, rows }) => rows.every((row) => row.length === columns.length), 'a row misses a column');

/** A drawing, a file in the same folder. */
const pictureSchema = z.strictObject({ ...measured, picture: z.string().regex(/^[\w.-]+\.svg$/) });

const resultSchema = z.union([tableSchema, pictureSchema]);

export type ResultTable = z.infer<typeof tableSchema>;
export type ResultFile = z.infer<typeof resultSchema>;
/** What every result says of how it was measured. */
export type Measured = Omit<z.infer<typeof pictureSchema>, 'picture'>;

/** A result from its text; throws what is wrong with it. */
export function parseResult(text: string): ResultFile {
  const value: unknown = JSON.parse(text);
  const isPicture = typeof value === 'object' && value !== null && 'picture' in value;
  const parsed = (isPicture ? pictureSchema : tableSchema).safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
}

/** A result as it is written: a line for each column and each row, so that a change of one is a change of a line. */
export function resultText(result: ResultFile): string {
  const lines = Object.entries(result).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (key !== 'columns' && key !== 'rows') return [`  ${JSON.stringify(key)}: ${JSON.stringify(value)}`];
    const each = (value as unknown[]).map((one) => `    ${JSON.stringify(one)}`);
    return [`  ${JSON.stringify(key)}: [\n${each.join(',\n')}\n  ]`];
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** A cell as tables of docs show it. */
export function shownCell(value: ResultCell, digits: number | undefined): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  const number = (x: number, places = digits) => (places === undefined ? String(x) : x.toFixed(places));
  if (Array.isArray(value)) return `${number(value[0])} (${number(value[1], 2)})`;
  if (typeof value !== 'object') return number(value);
  const { mean, sd, count } = value;
  return formatMeanSd({ mean, sd, count }, digits);
}

/** How a result was measured, in a line. */
export function measuredLine({ command, preset, seeds, date, commit, changes, hardware }: Measured): string {
  const presets = { paper: 'paper preset', authors: 'authors’ preset', near: 'near the paper', ours: 'ours' };
  const [first] = seeds;
  const drawn = seeds.length === 1 ? `seed ${first}` : `${seeds.length} seeds`;
  const at = `commit ${commit}${changes === undefined ? '' : ` and ${changes} changed files`}`;
  return `*\`${command}\`; ${presets[preset]}, ${drawn}, ${date}, ${at}, ${hardware}.*`;
}
