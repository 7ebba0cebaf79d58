import { UserError } from '@hidden-schema/base/errors';
import type { WalkReader } from '@hidden-schema/hsn';
import type { WalkFileOptions, WalkFormat } from '@hidden-schema/studies/runs/walk-files';
import type { CorpusReport, TextSettings } from '@hidden-schema/text';
import type { Special } from './analysis-verb.ts';
import { stoppable } from './stopping.ts';
import { printLines, say } from './terminal.ts';
import { addTextOptions, oneOf, type TextFlags, textSettings } from './text-flags.ts';

interface EncodeFlags extends TextFlags {
  format?: string;
  out?: string;
  checkpoint: string;
  shard?: string;
  unsure?: string;
  names?: boolean;
  json?: boolean;
}

/** `hsn encode RUN [FILE]` reads texts as they come, any number of them, and writes their walks in three formats. */
export const special: Special = {
  extend: (command) => {
    command
      .argument(
        '[file]',
        'texts, as for "hsn train"; without it or with -, a sentence a line from standard input',
      )
      .option('--format <name>', 'tsv, jsonl or parquet (default: by the ending of --out, else tsv)')
      .option('--out <file>', 'where to write (default: standard output)')
      .option(
        '--input-format <name>',
        'text, document, tsv, csv, json, jsonl or parquet (default: by the ending)',
      )
      .option('--names', 'write each walk in words too: the names of its symbols')
      .option(
        '--unsure <share>',
        "mark walks as uncertain as the least certain share of the run's texts, such as 5%",
      )
      .option(
        '--shard <i/n>',
        'read every n-th sentence from the i-th on: a part of the work for each machine',
      );
    addTextOptions(command);
  },
  instead: async (directory, flags, _, [file]) => {
    await encode(directory, file as string | undefined, flags as EncodeFlags);
    return true;
  },
};

async function encode(directory: string, file: string | undefined, flags: EncodeFlags): Promise<void> {
  const { corpusNotes, emptyReport } = await import('@hidden-schema/text/corpus-report');
  const { walkSink } = await import('@hidden-schema/studies/runs/walk-files');
  const asked = await textSettings(flags);
  const format = await walkFormat(flags);
  const shard = shardOf(flags.shard);
  const { reader, columns, clean } = await openReader(directory, flags);
  const settings = { clean, ...asked };
  await stoppable(async (signal) => {
    const sink = walkSink(format, flags.out ?? { write: printLines }, columns);
    const report = emptyReport(settings.onBadUtf8 ?? 'error');
    let [count, cut, known] = [0, 0, 0];
    const tell = teller();
    try {
      for await (const texts of sharded(sentencesOf(file, { ...settings, signal }, report), shard)) {
        if (signal.aborted) break;
        const read = await reader.read(texts, { remember: true });
        await sink.write(texts.map((text, i) => ({ text, ...read.walks[i]! })));
        count += texts.length;
        cut += read.cut;
        known += read.known ?? 0;
        tell(count);
      }
      if (signal.aborted) sink.abandon();
      else await sink.finish();
    } catch (error) {
      sink.abandon();
      if (!signal.aborted) throw error;
    }
    // Labels mean nothing here.
    for (const note of corpusNotes({ ...report, labels: [] })) say(`${note}\n`);
    if (known > 0) say(`${known} of ${count} texts were known: their vectors came from the cache\n`);
    if (cut > 0) say(`${cut} of ${count} sentences were longer than the encoder reads: cut\n`);
  }, 'result');
}

/** Sentences of a file, or of standard input as they come, in batches; `report` counts what was done with them. */
async function* sentencesOf(
  file: string | undefined,
  options: Partial<TextSettings> & { signal: AbortSignal },
  report: CorpusReport,
): AsyncGenerator<string[]> {
  const { streamedTexts, TextFiles } = await import('@hidden-schema/text/corpus');
  const plain = options.format === undefined || options.format === 'text';
  if ((file === undefined || file === '-') && plain)
    return yield* streamedTexts(process.stdin, options, report);
  const files = await TextFiles.find(file ?? '-', options);
  for (const note of files.notes) say(`${note}\n`);
  try {
    yield* files.texts(report);
  } finally {
    files.close();
  }
}

/** One of `count` parts of a stream of sentences: every `count`-th, from the `index`-th on (from 0). */
interface Shard {
  readonly index: number;
  readonly count: number;
}

/** What `--shard 2/8` names; the whole without it. */
function shardOf(text = '1/1'): Shard {
  const [index, count] = (/^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? []).slice(1).map(Number);
  if (index === undefined || count === undefined || index < 1 || index > count)
    throw new UserError(`--shard takes a part of how many, from 1/2 to 2/2 for two; got ${text}`);
  return { index: index - 1, count };
}

/** The shard's sentences of a stream that comes in batches. */
async function* sharded(batches: AsyncIterable<string[]>, { index, count }: Shard): AsyncGenerator<string[]> {
  let before = 0;
  for await (const batch of batches) {
    const own = count === 1 ? batch : batch.filter((_, i) => (before + i) % count === index);
    before += batch.length;
    if (own.length > 0) yield own;
  }
}

const TELL_MS = 10_000;

/** Says now and then how far it is; how many sentences are to come is not known. */
function teller(): (count: number) => void {
  let last = { at: performance.now(), count: 0 };
  return (count) => {
    const at = performance.now();
    if (at - last.at < TELL_MS) return;
    const rate = Math.round((1000 * (count - last.count)) / (at - last.at));
    say(`${count} sentences encoded, ${rate} a second\n`);
    last = { at, count };
  };
}

async function openReader(
  directory: string,
  { checkpoint, unsure, names }: EncodeFlags,
): Promise<{ reader: WalkReader; columns: WalkFileOptions; clean: boolean }> {
  const { open } = await import('@hidden-schema/hsn/open');
  const { textRecord } = await import('@hidden-schema/hsn/tasks/language/text-record');
  const { encodedCorpus } = await import('@hidden-schema/studies/texts/encoded');
  const { shareNumber, unsureTexts } = await import('@hidden-schema/studies/texts/unsure');
  const { symbolNames } = await import('@hidden-schema/studies/names');
  const share = unsure === undefined ? undefined : shareNumber('--unsure', unsure);
  const opened = await open(directory, { checkpoint });
  for (const note of opened.notes) say(`${note}\n`);
  // Texts are read as those were that the run was trained on.
  const clean = opened.kind === 'language' && (textRecord(opened.run).record.settings.clean ?? false);
  const columns: WalkFileOptions = names ? { names: symbolNames(opened.run) } : {};
  if (share !== undefined) {
    using encoded = await encodedCorpus(opened);
    columns.unsure = unsureTexts(encoded, share).threshold;
  }
  return { reader: opened.texts, columns, clean };
}

async function walkFormat({ format, out, json }: EncodeFlags): Promise<WalkFormat> {
  const { WALK_FORMATS } = await import('@hidden-schema/studies/runs/walk-files');
  if (json && format !== undefined && format !== 'jsonl')
    throw new UserError(`--json and --format ${format} ask for two formats; leave one out`);
  if (json) return 'jsonl';
  if (format !== undefined) return oneOf('--format', format, WALK_FORMATS);
  return WALK_FORMATS.find((one) => one === out?.split('.').at(-1)) ?? 'tsv';
}
