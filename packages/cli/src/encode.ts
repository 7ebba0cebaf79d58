import type { WalkReader } from '@hidden-schema/hsn';
import type { WalkFormat } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { sentencesOf } from './sentences.ts';
import { shardOf, shardSentences } from './shard.ts';
import { stoppable } from './stopping.ts';
import { printLines, say } from './terminal.ts';
import { addTextOptions, type TextFlags, textSettings } from './text-flags.ts';

interface EncodeFlags extends TextFlags {
  format?: string;
  out?: string;
  checkpoint: string;
  shard?: string;
  unsure?: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn encode run reviews.tsv --out walks.jsonl
  $ echo "the food was great" | hsn encode run
  $ hsn encode run corpus/test.txt --format parquet --out walks.parquet
  $ printf 'PersonX goes home\txWant\tto rest\n' | hsn encode tuples-run   event, relation and object
  $ hsn encode run all.txt --shard 2/8 --out walks-2.jsonl     on the second of eight machines

  $ hsn encode run reviews.tsv --unsure 5% --out walks.tsv     the least certain marked, none dropped

Columns: walk (its symbols), probability (of the whole walk given the sentence), steps (that of each symbol given the
one before), text. The walk is the most probable one on the expected graph, so the same sentence always has the same. --unsure adds the
column unsure: 1 for sentences whose walk is at most as probable as those of the least certain share of the run's own texts.
`;

export function register(program: Command): void {
  const command = program
    .command('encode')
    .summary('sentences to walks on the graph')
    .description('Read sentences and write the most probable walk of each, with its probabilities.')
    .argument('<run>', 'run folder')
    .argument(
      '[file]',
      'texts, as for "hsn train"; without it or with -, a sentence a line from standard input',
    )
    .option('--format <name>', 'tsv, jsonl or parquet (default: by the ending of --out, else tsv)')
    .option('--json', 'the same as --format jsonl')
    .option('--out <file>', 'where to write (default: standard output)')
    .option(
      '--input-format <name>',
      'text, document, tsv, csv, json, jsonl or parquet (default: by the ending)',
    )
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .option(
      '--unsure <share>',
      "mark walks as uncertain as the least certain share of the run's texts, such as 5%",
    )
    .option('--shard <i/n>', 'read every n-th sentence from the i-th on: a part of the work for each machine')
    .addHelpText('after', examples)
    .action(encode);
  addTextOptions(command);
}

async function encode(directory: string, file: string | undefined, flags: EncodeFlags): Promise<void> {
  const { corpusNotes, emptyReport } = await import('@hidden-schema/text/corpus-report');
  const { walkSink } = await import('@hidden-schema/studies/walk-files');
  const asked = await textSettings(flags);
  const format = await walkFormat(flags);
  const shard = await shardOf(flags.shard);
  const { reader, unsure, clean } = await openReader(directory, flags);
  const settings = { clean, ...asked };
  await stoppable(async (signal) => {
    const sink = walkSink(format, flags.out ?? { write: printLines }, unsure);
    const report = emptyReport(settings.onBadUtf8 ?? 'error');
    let [count, cut, known] = [0, 0, 0];
    const tell = teller();
    try {
      for await (const texts of shardSentences(sentencesOf(file, { ...settings, signal }, report), shard)) {
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
  { checkpoint, unsure }: EncodeFlags,
): Promise<{ reader: WalkReader; unsure: { unsure?: number }; clean: boolean }> {
  const { open } = await import('@hidden-schema/hsn/open');
  const { textRecord } = await import('@hidden-schema/hsn/tasks/language/text-record');
  const { encodedCorpus } = await import('@hidden-schema/studies/analysis/encoded');
  const { shareNumber, unsureTexts } = await import('@hidden-schema/studies/analysis/unsure');
  const share = unsure === undefined ? undefined : shareNumber('--unsure', unsure);
  const opened = await open(directory, { checkpoint });
  for (const note of opened.notes) say(`${note}\n`);
  // Texts are read as those were that the run was trained on.
  const clean = opened.kind === 'language' && (textRecord(opened.run).record.settings.clean ?? false);
  if (share === undefined) return { reader: opened.texts, unsure: {}, clean };
  const encoded = await encodedCorpus(opened);
  try {
    return { reader: opened.texts, unsure: { unsure: unsureTexts(encoded, share).threshold }, clean };
  } finally {
    encoded.close();
  }
}

async function walkFormat({ format, out, json }: EncodeFlags): Promise<WalkFormat> {
  const { UserError } = await import('@hidden-schema/base');
  const { WALK_FORMATS } = await import('@hidden-schema/studies/walk-files');
  const known = (name: string | undefined) => WALK_FORMATS.find((one) => one === name);
  if (json && format !== undefined && format !== 'jsonl')
    throw new UserError(`--json and --format ${format} ask for two formats; leave one out`);
  if (json) return 'jsonl';
  if (format === undefined) return known(out?.split('.').at(-1)) ?? 'tsv';
  const found = known(format);
  if (!found) throw new UserError(`--format takes one of ${WALK_FORMATS.join(', ')}, got ${format}`);
  return found;
}
