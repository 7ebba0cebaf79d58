import { type JsonValue, UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { EditUnfinished } from '@hidden-schema/hsn/run/run-faults';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { attentionWords } from './attention-words.ts';
import { type EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from './encoded.ts';
import { foundNames } from './found-names.ts';
import { type MeaningOptions, type SymbolMeaning, symbolMeanings } from './meaning.ts';
import { storeFoundNames, suggestedNames, symbolNames } from './names.ts';
import { type RunCorpus, runCorpus } from './run-corpus.ts';

const FORMAT = 3;
const FILE = 'analysis/symbols.json';

interface Stored {
  format: number;
  created: string;
  step: number;
  /** Encoded sentences it was made from. */
  sentences: number;
  symbols: SymbolMeaning[];
}

/**
 * What each symbol means, with representative sentences: as stored in the run's `analysis/symbols.json`, or worked out
 * from the encoded sentences now and stored. Names are those of now.
 */
export async function storedMeanings(
  opened: OpenedRun,
  options: EncodingOptions & { encoded?: EncodedCorpus } = {},
): Promise<SymbolMeaning[]> {
  const encoded = options.encoded ?? (await encodedCorpus(opened, options));
  try {
    const known = readStored(opened, encoded.count);
    return renamed(known ?? (await workedOut(opened, encoded, options)), opened.run);
  } finally {
    if (!options.encoded) encoded.close();
  }
}

/** The same where it is stored already; nothing is worked out. */
export function knownMeanings(opened: OpenedRun): SymbolMeaning[] | undefined {
  const encoded = openEncoded(opened);
  if (!encoded) return undefined;
  try {
    const known = readStored(opened, encoded.count);
    return known && renamed(known, opened.run);
  } finally {
    encoded.close();
  }
}

async function workedOut(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  { signal, onProgress }: Pick<EncodingOptions, 'signal' | 'onProgress'>,
): Promise<SymbolMeaning[]> {
  const options = { ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) };
  const attention =
    opened.kind === 'language' && opened.texts.writes
      ? { attention: await attentionWords(opened, encoded, options) }
      : {};
  const symbols = await meaningsOf(opened, encoded, { ...attention, ...(signal ? { signal } : {}) });
  const { run, step } = opened;
  const found = opened.kind === 'language' ? foundNames(symbols, encoded) : undefined;
  const stored: Stored = {
    format: FORMAT,
    created: run.identity,
    step,
    sentences: encoded.count,
    symbols,
  };
  try {
    if (found) storeFoundNames(run, found, run.record.edited !== undefined);
    run.store(FILE, stored as unknown as JsonValue);
  } catch (error) {
    // Worked out again the next time, and the edit is said wherever something is written.
    if (!(error instanceof EditUnfinished)) throw error;
  }
  return symbols;
}

/** With words of passages, where the corpus is at hand and has texts that are read as several. */
async function meaningsOf(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  { signal, ...options }: MeaningOptions & { signal?: AbortSignal },
): Promise<SymbolMeaning[]> {
  const corpus = hasPassages(opened) ? await corpusAtHand(opened, signal) : undefined;
  try {
    return symbolMeanings(opened, encoded, { ...options, passages: await corpus?.passages?.() });
  } finally {
    corpus?.close();
  }
}

/** Whether texts of a run may have several passages: those that it was made with, or others that were added. */
function hasPassages(opened: OpenedRun): boolean {
  if (opened.kind !== 'language' || !opened.config.discovery.passages) return false;
  const { cutTexts = 0, more = [] } = textRecord(opened.run).record;
  return cutTexts > 0 || more.length > 0;
}

/** Without its corpus a run still knows its texts and their walks, and words are those of whole texts. */
async function corpusAtHand(
  opened: OpenedRun,
  signal: AbortSignal | undefined,
): Promise<RunCorpus | undefined> {
  try {
    return await runCorpus(opened, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function readStored({ run, step }: OpenedRun, sentences: number): SymbolMeaning[] | undefined {
  const stored = run.files.readIfWhole<Stored>(FILE);
  const same =
    stored?.format === FORMAT &&
    stored.created === run.identity &&
    stored.step === step &&
    stored.sentences === sentences;
  return same ? stored.symbols : undefined;
}

/** Symbols may have been named since. */
function renamed(symbols: readonly SymbolMeaning[], run: OpenedRun['run']): SymbolMeaning[] {
  const names = symbolNames(run);
  const name = <T extends { symbol: number; name: string | null }>(of: T): T => ({
    ...of,
    name: names.get(of.symbol) ?? null,
  });
  const said = suggestedNames(run);
  return symbols.map((one) => {
    const { description } = said.get(one.symbol) ?? {};
    const named = { ...name(one), neighbours: one.neighbours.map(name) };
    return description === undefined ? named : { ...named, description };
  });
}
