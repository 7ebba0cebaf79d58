import { UserError } from '@hidden-schema/base';
import type { TextFiles } from '@hidden-schema/text/corpus';
import { type FileReport, fingerprintOf } from '@hidden-schema/text/corpus-report';
import { storedCorpus } from '@hidden-schema/text/token-cache';
import { TokenStore } from '@hidden-schema/text/token-store';
import type { Run } from '../../run/run.ts';
import type { TextRecord } from './text-record.ts';

/** What a run notes of each file of its corpus, in their order. */
export type CorpusFile = Pick<FileReport, 'name' | 'split' | 'sha256' | 'sentences'>;

export const corpusFiles = (files: readonly FileReport[]): CorpusFile[] =>
  files.map(({ name, split, sha256, sentences }) => ({ name, split, sha256, sentences }));

/**
 * Refuses files whose content is not that of a run's corpus, and says what differs. `added` is the number of one that is
 * to be added to it, which must be of other content than those before.
 */
export async function checkCorpus(run: Run, files: TextFiles, added?: number): Promise<void> {
  const sums = await files.sums();
  const now = files.sources.map(({ name, split }, at) => ({ name, split, sha256: sums[at]!.sha256 }));
  const own = now.filter((_, at) => at !== added);
  if (fingerprintOf(own) !== run.record.corpus.fingerprint)
    throw new UserError(
      `the corpus of ${run.directory} is not what it was trained on: ${await differences(run, files, own, added)}; put it back as it was, name a copy of that with --corpus, or train a new run`,
    );
  const fresh = added === undefined ? undefined : now[added]!;
  const twin = fresh && own.find(({ sha256 }) => sha256 === fresh.sha256);
  if (twin) throw sameContent(run, files.sources[added!]!.file, twin.name);
}

/** That a file adds nothing. */
export const sameContent = (run: Run, file: string, twin: string): UserError =>
  new UserError(
    `${file} has the texts of ${twin}, which ${run.directory} has already; nothing was added, give other texts`,
  );

/** How the files differ from those that the run had, in words. */
async function differences(
  run: Run,
  files: TextFiles,
  now: readonly Omit<CorpusFile, 'sentences'>[],
  added: number | undefined,
): Promise<string> {
  const before = filesBefore(run);
  if (!before) return `${now.map(({ name }) => name).join(', ')} is of other content`;
  const gone = before.filter(({ name }) => !now.some((file) => file.name === name));
  const fresh = now.filter(({ name }) => !before.some((file) => file.name === name));
  const changed = now.filter(
    ({ name, sha256 }) =>
      before.some((file) => file.name === name) && !before.some((file) => file.sha256 === sha256),
  );
  const counted = changed.length > 0 ? await countedTexts(run, files, added) : undefined;
  const parts = [
    ...gone.map(({ name }) => `${name} is gone`),
    ...fresh.map(({ name }) => `${name} is new`),
    ...changed.map(({ name }) =>
      changed.length === 1 && counted ? `${name} ${counted}` : `${name} is of other content`,
    ),
    ...(changed.length > 1 && counted ? [`the corpus ${counted}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'its files are in another order, or for other splits';
}

function filesBefore(run: Run): readonly CorpusFile[] | undefined {
  const { fingerprint } = run.record.corpus;
  const { files } = (run.record.text ?? {}) as Partial<TextRecord>;
  return files && fingerprintOf(files) === fingerprint ? files : storedCorpus(fingerprint)?.report.files;
}

/** How many texts are new and gone, where the texts before are still in the cache. */
async function countedTexts(
  run: Run,
  files: TextFiles,
  added: number | undefined,
): Promise<string | undefined> {
  const stored = storedCorpus(run.record.corpus.fingerprint);
  if (!stored) return undefined;
  let before: BigUint64Array;
  let now: bigint[];
  try {
    const store = TokenStore.open(stored.folder);
    before = store.keys();
    store.close();
    now = (await files.keys()).filter((_, at) => at !== added).flat();
  } catch {
    return undefined;
  }
  const left = new Map<bigint, number>();
  for (const key of before) left.set(key, (left.get(key) ?? 0) + 1);
  let fresh = 0;
  for (const key of now) {
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    else fresh++;
  }
  const gone = before.length - (now.length - fresh);
  if (fresh > 0 || gone > 0)
    return `has ${fresh} new ${fresh === 1 ? 'text' : 'texts'} and lacks ${gone} of the ${before.length}`;
  return now.every((key, at) => key === before[at])
    ? `has the same ${now.length} texts, and something else in other columns or lines`
    : `has the same ${now.length} texts in another order`;
}
