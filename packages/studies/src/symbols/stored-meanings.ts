import { type JsonValue, UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { EditUnfinished } from '@hidden-schema/hsn/run/edit-record';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { type EncodedCorpus, type EncodingOptions, encodedCorpus, openEncoded } from '../texts/encoded.ts';
import { type RunCorpus, runCorpus } from '../texts/run-corpus.ts';
import type { AttendingWords } from './attention-reading.ts';
import { type SymbolMeaning, symbolMeanings } from './meaning.ts';
import {
  MEANINGS_FILE,
  MEANINGS_FORMAT,
  readMeanings,
  renamed,
  type StoredMeanings,
} from './meanings-file.ts';
import { storeFoundNames } from './names.ts';
import { foundNames } from './weighed-words.ts';

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
    const known = readMeanings(opened, encoded.count);
    return renamed(known ?? (await workedOut(opened, encoded, options)), opened.run);
  } finally {
    if (!options.encoded) encoded.close();
  }
}

/** The same where it is stored already; nothing is worked out. */
export function knownMeanings(opened: OpenedRun): SymbolMeaning[] | undefined {
  using encoded = openEncoded(opened);
  const known = encoded && readMeanings(opened, encoded.count);
  return known && renamed(known, opened.run);
}

async function workedOut(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  options: Pick<EncodingOptions, 'signal' | 'onProgress'>,
): Promise<SymbolMeaning[]> {
  const attention = await writtenWords(opened, encoded, options);
  const symbols = await meaningsOf(opened, encoded, attention, options.signal);
  const { run, step } = opened;
  const found = opened.kind === 'language' ? foundNames(symbols, encoded) : undefined;
  const key = { format: MEANINGS_FORMAT, created: run.identity, step, sentences: encoded.count };
  const stored: StoredMeanings = { ...key, symbols };
  try {
    if (found) storeFoundNames(run, found, run.record.edited !== undefined);
    run.store(MEANINGS_FILE, stored as unknown as JsonValue);
  } catch (error) {
    // Worked out again the next time, and the edit is said wherever something is written.
    if (!(error instanceof EditUnfinished)) throw error;
  }
  return symbols;
}

/** Words that a decoder looks at each symbol for, where there is one. */
async function writtenWords(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  { signal, onProgress }: Pick<EncodingOptions, 'signal' | 'onProgress'>,
): Promise<AttendingWords | undefined> {
  if (opened.kind !== 'language' || !opened.texts.writes) return undefined;
  const { attentionWords } = await import('./attention-reading.ts');
  return attentionWords(opened, encoded, { signal, onProgress });
}

/** With words of passages, where the corpus is at hand and has texts that are read as several. */
async function meaningsOf(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  attention: AttendingWords | undefined,
  signal: AbortSignal | undefined,
): Promise<SymbolMeaning[]> {
  const corpus = hasPassages(opened) ? await corpusAtHand(opened, signal) : undefined;
  try {
    return await symbolMeanings(opened, encoded, { attention, passages: await corpus?.passages?.() });
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
const corpusAtHand = (opened: OpenedRun, signal: AbortSignal | undefined): Promise<RunCorpus | undefined> =>
  runCorpus(opened, { signal }).catch((error: unknown) => {
    if (error instanceof UserError) return undefined;
    throw error;
  });
