// A discovered run small enough for tests: three subjects with labels, years and markup.

import fs from 'node:fs';
import { csvText } from '@hidden-schema/base';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { markup } from './small-run.ts';

export const SYMBOLS = 9;
export const LENGTH = 3;

export interface PlantedRow {
  text: string;
  label: string;
  year: number;
}

/** Texts about space are mostly of the 1960s; every tenth text has markup in it. */
export const plantedRows: readonly PlantedRow[] = plantedTexts().map(([label, text], at) => ({
  label,
  text: at % 10 === 0 ? `${text} ${markup[(at / 10) % markup.length]}` : text,
  year: label === 'space' && at % 4 !== 0 ? 1960 + (at % 10) : 1900 + ((at * 7) % 120),
}));

export interface SmallDiscovered {
  run: string;
  /** A second run, of the first texts alone, where one was asked for. */
  other: string;
  remove(): void;
}

/** `few` texts make a second run, where that is not 0. */
export async function makeSmallDiscovered(few = 0): Promise<SmallDiscovered> {
  const folder = temporaryFolder('explorer-discovered');
  folder.holdCache();
  const [run, other] = [folder.path('planted'), folder.path('planted-few')];
  await discover(run, plantedRows);
  if (few > 0) await discover(other, plantedRows.slice(0, few));
  return { run, other, remove: folder.remove };
}

async function discover(run: string, rows: readonly PlantedRow[]): Promise<void> {
  const corpus = `${run}.csv`;
  const cells = rows.map(({ year, label, text }) => [year, label, text]);
  fs.writeFileSync(corpus, csvText([['year', 'label', 'text'], ...cells]));
  const sizes = ['--symbols', String(SYMBOLS), '--length', String(LENGTH), '--threads', '1'];
  // With the markup in texts, which the page must not take for its own.
  const texts = ['--corpus', corpus, '--time-column', 'year', '--no-clean'];
  const made = await hsn('train', ...texts, '--stage', 'discover', '--out', run, ...sizes);
  if (made.code !== 0) throw new Error(made.stderr);
}
