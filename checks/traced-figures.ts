import type { ResultCell, ResultFile } from '../paper/src/results/result-file.ts';

/** `<!-- figures: results/a/b.json results/c/d.json -->` in a paragraph, an item of a list or a row of a table. */
const source = /<!-- figures: ((?:results\/[\w./-]+\.json ?)+) ?-->/;
/** The paper's own figures are in italics; links, code and comments hold no figures. */
const apart = /Section \d\.\d|(?<!\*)\*(?![\s*])[^*]+\*(?!\*)|`[^`]*`|\]\([^)]*\)|<!--[\s\S]*?-->/g;
const figure = /(?<![\w.])\d+\.\d+(?![\w.]*\d)/g;
const percent = /^(\s+(to|and)\s+\d+\.\d+)?\s%/;

/** Paragraphs, items of lists, and rows of tables. */
function blocks(markdown: string): string[] {
  const found: string[] = [];
  for (const line of markdown.split('\n')) {
    const continues = /^(\s*[^\s|#-]|\s+\S)/.test(line) && (found.at(-1) ?? '') !== '';
    if (continues && !found.at(-1)!.startsWith('|')) found[found.length - 1] += `\n${line}`;
    else found.push(line);
  }
  return found;
}

const numbersOf = (cell: ResultCell): number[] => {
  if (cell === null) return [];
  if (typeof cell === 'number') return [cell];
  if (typeof cell === 'string') return [...cell.matchAll(/\d+(?:\.\d+)?/g)].map(([text]) => Number(text));
  if (Array.isArray(cell)) return cell;
  return [cell.mean, ...(cell.sd === undefined ? [] : [cell.sd])];
};

/** Tables that are made from files. */
const made = /<!-- results\/[\s\S]*?<!-- end of results -->/g;

/**
 * Figures of marked blocks that are no value of the files they name, rounded as they are written; with `all`, figures of
 * blocks without a mark as well.
 */
export function tracedFigures(
  markdown: string,
  read: (name: string) => ResultFile,
  { all = false } = {},
): string[] {
  return blocks(markdown.replaceAll(made, '')).flatMap((block) => {
    const names = source.exec(block)?.[1]?.trim().split(/\s+/);
    const plain = block.replaceAll(apart, '');
    if (names === undefined) {
      const untraced = all ? [...plain.matchAll(figure)] : [];
      return untraced.map(([text]) => `${text} names no file of results/ (<!-- figures: results/….json -->)`);
    }
    const values = names.flatMap((name) => {
      const result = read(name.replace(/^results\/|\.json$/g, ''));
      return 'rows' in result ? result.rows.flat().flatMap(numbersOf) : [];
    });
    return [...plain.matchAll(figure)].flatMap(({ 0: text, index }) =>
      isAmong(text, percent.test(plain.slice(index + text.length)), values)
        ? []
        : [`${text} is in none of ${names.join(', ')}`],
    );
  });
}

/** Whether a figure is one of the values, to as many digits as it has; shares may be told in percent. */
function isAmong(text: string, isPercent: boolean, values: readonly number[]): boolean {
  const digits = text.length - text.indexOf('.') - 1;
  const near = (value: number) => Math.abs(Math.abs(value) - Number(text)) <= 0.5 * 10 ** -digits + 1e-12;
  return values.some((value) => near(value) || (isPercent && near(100 * value)));
}
