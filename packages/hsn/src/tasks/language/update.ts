import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import { fingerprintOf } from '@hidden-schema/text/corpus-report';
import { cat, Tensor, withoutGrad } from '@hidden-schema/torch';
import { mostAligned } from '../../clusters.ts';
import type { ReadSymbols } from '../../discovery/cutoffs.ts';
import { newThemes } from '../../discovery/new-themes.ts';
import { mostSaid, type PassagePoints } from '../../discovery/passages.ts';
import type { StoredVectorOptions } from '../../discovery/vectors/vector-store.ts';
import type { SymbolEditing } from './edit.ts';
import { type OpenedLanguage, openLanguageCorpus, openPoints } from './open.ts';
import { textFingerprint } from './prepare-texts.ts';
import { countsOf, readAmong, symbolsOf } from './split.ts';
import { corpusFiles, sameContent, textRecord } from './text-record.ts';

// Shapes: N texts before, M added, K symbols before, J after, S their width.

/** What more texts do to the symbols of a run. */
export interface TextUpdate {
  /** Texts that were added, and how many of them the run had before. */
  added: number;
  repeated: number;
  /** Of the texts before, the share whose nearest symbol is the same. */
  kept: number;
  /** Symbols that are new, by number, with the added texts that are nearest to them. */
  themes: { symbol: number; texts: string[] }[];
  /** The other added texts that train. */
  others: string[];
  editing: Omit<SymbolEditing, 'what'>;
}

/**
 * Adds a file of texts to a run: its symbols stay as they are, under their numbers; themes that only the added texts have
 * become symbols after the last, with the links that free walks travel.
 */
export async function textUpdate(
  opened: OpenedLanguage,
  more: string,
  options: Omit<StoredVectorOptions, 'longest' | 'parts'> = {},
): Promise<TextUpdate> {
  const file = path.resolve(more);
  const { record } = textRecord(opened.run);
  if (record.more?.includes(file))
    throw new UserError(`${more} was added to ${opened.run.directory} before; give other texts`);
  const corpus = await openLanguageCorpus(opened, { more: file, ...signalOf(options) });
  try {
    const fresh = addedRows(opened, corpus);
    checkAdded(corpus, fresh, { more, labels: record.labels });
    const repeated = countRepeated(opened, corpus, { ...fresh, file });
    const placed = await openPoints(opened, corpus, options);
    const rows = corpus.splits.train;
    const placedTexts = placed!.reading(rows);
    try {
      const old = rows.filter((row) => row < fresh.first).length;
      const noted = recordWith(opened, corpus, file);
      const { themes: found, ...change } = await changeBy(opened, placedTexts, old);
      const texts = Array.from(rows.subarray(old), (row) => corpus.store.example(row).text);
      const themes = found.map(({ symbol, at }) => ({ symbol, at: textsAt(at, placedTexts.passages, old) }));
      const taken = new Set(themes.flatMap(({ at }) => at));
      return {
        ...change,
        themes: themes.map(({ symbol, at }) => ({ symbol, texts: at.map((n) => texts[n]!) })),
        others: texts.filter((_, n) => !taken.has(n)),
        added: fresh.end - fresh.first,
        repeated,
        editing: { ...change.editing, record: noted },
      };
    } finally {
      placedTexts.points.free();
      placed!.free();
    }
  } finally {
    corpus.close();
  }
}

const signalOf = ({ signal }: { signal?: AbortSignal | undefined }) => (signal ? { signal } : {});

/** What run.json notes of the corpus once a file was added. */
function recordWith({ run }: OpenedLanguage, corpus: TextCorpus, file: string): Record<string, JsonValue> {
  const { record } = textRecord(run);
  const more = [...(record.more ?? []), file];
  const files = corpusFiles(corpus.report.files);
  const text = { ...record, more, files, sentences: corpus.splits.train.length, labels: corpus.labels };
  return {
    corpus: { directory: run.record.corpus.directory, fingerprint: textFingerprint(corpus) },
    text: JSON.parse(JSON.stringify(text)) as JsonValue,
  };
}

/** The file that was added, by its number, with its rows. */
interface AddedRows {
  at: number;
  first: number;
  end: number;
}

/** The added file is the one without which the corpus is the run's own, as was checked when it was opened. */
function addedRows({ run }: OpenedLanguage, { report: { files } }: TextCorpus): AddedRows {
  const { fingerprint } = run.record.corpus;
  const at = files.findIndex((_, n) => fingerprintOf(files.filter((__, m) => m !== n)) === fingerprint);
  const first = files.slice(0, at).reduce((sum, { sentences }) => sum + sentences, 0);
  return { at, first, end: first + files[at]!.sentences };
}

/** How many of the added texts the run has already; refused where they are those of one of its files, in any order. */
function countRepeated(
  { run }: OpenedLanguage,
  { store, report: { files } }: TextCorpus,
  { file, at, first, end }: AddedRows & { file: string },
): number {
  const keys = store.keys();
  const fresh = keys.slice(first, end).sort();
  let start = 0;
  for (const [n, { name, sentences }] of files.entries()) {
    const own = keys.slice(start, start + sentences).sort();
    if (n !== at && own.length === fresh.length && own.every((key, i) => key === fresh[i]))
      throw sameContent(run, file, name);
    start += sentences;
  }
  const before = new Set([...keys.subarray(0, first), ...keys.subarray(end)]);
  return fresh.reduce((count, key) => count + (before.has(key) ? 1 : 0), 0);
}

/** The added texts that have some of the added passages, each once. */
function textsAt(at: readonly number[], passages: Int32Array | undefined, old: number): number[] {
  if (!passages) return [...at];
  const texts = Array.from(passages.subarray(old)).flatMap((count, n) => new Array<number>(count).fill(n));
  return [...new Set(at.map((passage) => texts[passage]!))];
}

interface Change extends Pick<TextUpdate, 'kept' | 'editing'> {
  /** New symbols with the places of their passages among those that were added. */
  themes: { symbol: number; at: number[] }[];
}

/** Training texts are in the order of files, those that were added last. */
async function changeBy(opened: OpenedLanguage, texts: PassagePoints, old: number): Promise<Change> {
  const { read, editing, ...change } = withoutGrad(() => withThemes(opened, texts, old));
  return { ...change, editing: { ...editing, ...(read ? await readAmong(opened, texts, read) : {}) } };
}

/** The symbols with those of new themes, where there are any. */
function withThemes(
  opened: OpenedLanguage,
  { points, passages }: PassagePoints,
  old: number,
): Change & { read?: ReadSymbols } {
  const { symbols, starts } = symbolsOf(opened);
  const [K, S] = symbols.shape as [number, number];
  const earlier = passages?.subarray(0, old);
  const first = earlier ? earlier.reduce((sum, count) => sum + count, 0) : old;
  const [before, added] = [points.narrow(0, 0, first), points.narrow(0, first, points.dim(0) - first)];
  const themes = added.dim(0) > 0 ? newThemes({ before, added }, symbols, opened.config.seed) : [];
  const fresh = themes.map(({ direction }) => Tensor.fromArray(direction, [1, S]));
  const withFresh = (rows: Tensor) => cat([rows, ...fresh], 0);
  const [was, now] = [starts, withFresh(starts)].map((rows) => {
    const nearest = mostAligned(before, rows).toNumbers();
    return earlier ? mostSaid(nearest, earlier) : nearest;
  });
  const kept = was!.filter((symbol, n) => symbol === now![n]).length / old;
  const texts = countsOf(was!, K);
  return {
    kept,
    themes: themes.map(({ added: at }, i) => ({ symbol: K + i, at })),
    editing: {
      origins: [...Array.from({ length: K }, (_, k) => [k]), ...themes.map(() => [])],
      texts,
      turns: new Map(themes.map(({ direction }, i) => [K + i, direction])),
    },
    ...(themes.length > 0 ? { read: { symbols: withFresh(symbols), starts: withFresh(starts) } } : {}),
  };
}

/** Refuses texts that are not of the same kind as those before. */
function checkAdded(
  { store, report }: TextCorpus,
  { first, end }: { first: number; end: number },
  { more, labels }: { more: string; labels: readonly string[] },
): void {
  if (first === end) throw new UserError(`${more} has no texts; expected some to add`);
  const labelled = Array.from({ length: end - first }, (_, n) => store.row(first + n).label >= 0);
  if (labels.length > 0 && !labelled.includes(true))
    throw new UserError(
      `${more} has no labels, and the texts of the run have; give the same columns, such as label<TAB>text`,
    );
  if (labels.length === 0 && report.labels.length > 0)
    throw new UserError(`${more} has labels, and the texts of the run have none; give the same columns`);
}
