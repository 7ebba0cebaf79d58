import fs from 'node:fs';
import path from 'node:path';
import { reasonOf, UserError, writeFileAtomic } from '@hidden-schema/base';
import { type Sheet, sheetCsv } from './sheets.ts';

/** A drawing with the name of its files. */
export interface NamedFigure {
  name: string;
  title: string;
  svg: string;
}

/** What an analysis leaves behind. */
export interface Results {
  /** The name of its JSON file. */
  name: string;
  sheets?: readonly Sheet[];
  figures?: readonly NamedFigure[];
  /** Everything, for programs. */
  data: unknown;
}

/** Typed arrays as plain ones, and numbers that JSON cannot hold as null. */
export function plainJson(data: unknown): string {
  const text = JSON.stringify(
    data,
    (_, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value)) return null;
      if (value instanceof Map) return Object.fromEntries(value);
      return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
    },
    2,
  );
  return `${text}\n`;
}

/**
 * Writes tables as CSV, figures as SVG and PNG, and all numbers as JSON into a folder; returns the files. `check` refuses
 * files that must not be written over, before any is.
 */
export async function writeResults(
  folder: string,
  { name, sheets = [], figures = [], data }: Results,
  check: (file: string) => void = () => {},
): Promise<string[]> {
  const file = (base: string, ending: string) => path.join(folder, `${base}.${ending}`);
  const texts: [string, string][] = [
    [file(name, 'json'), plainJson(data)],
    ...sheets.map((sheet): [string, string] => [file(sheet.name, 'csv'), sheetCsv(sheet)]),
    ...figures.map(({ name: base, svg }): [string, string] => [file(base, 'svg'), svg]),
  ];
  const pictures = figures.map(({ name: base, svg }): [string, string] => [file(base, 'png'), svg]);
  const targets = [...texts, ...pictures].map(([target]) => target);
  for (const target of targets) check(target);
  try {
    fs.mkdirSync(folder, { recursive: true });
    for (const [target, text] of texts) writeFileAtomic(target, text);
    if (pictures.length > 0) {
      // What draws pixels is large, and most results are tables.
      const { toPng } = await import('./png.ts');
      for (const [target, svg] of pictures) writeFileAtomic(target, toPng(svg));
    }
    return targets;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot write to ${folder}: ${reasonOf(error)}`);
  }
}
