type Paint = ReturnType<typeof paintFor>;

/** Colours on a terminal, plain text in a pipe or where NO_COLOR is set. */
export function paintFor(
  out: { readonly isTTY?: boolean; readonly write: unknown },
  env: NodeJS.ProcessEnv = process.env,
) {
  const coloured = out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const wrap =
    (on: number, off: number) =>
    (text: string): string =>
      coloured ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return { good: wrap(32, 39), bad: wrap(31, 39), faint: wrap(2, 22), strong: wrap(1, 22) };
}

/** ✓ works, ✗ does not, · neither good nor bad. */
export type Mark = 'yes' | 'no' | 'note';

export interface Row {
  readonly mark: Mark;
  readonly name: string;
  /** One line each; those after the first stand under it. */
  readonly lines: readonly string[];
}

/** Rows with their marks and values in columns. */
export function formatRows(rows: readonly Row[], paint: Paint): string {
  const width = Math.max(0, ...rows.map((row) => row.name.length));
  const signs = { yes: paint.good('✓'), no: paint.bad('✗'), note: paint.faint('·') };
  const indent = ' '.repeat(width + 6);
  return rows
    .map(({ mark, name, lines }) => {
      const value = lines.join(`\n${indent}`);
      return `  ${signs[mark]} ${paint.strong(name.padEnd(width))}  ${value}\n`;
    })
    .join('');
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes for people, in powers of a thousand as disks are sold: `23.6 GB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
