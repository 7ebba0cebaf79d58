import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '@hidden-schema/base';
import {
  Run,
  readSyntheticCorpus,
  Session,
  SYNTHETIC_DEFAULTS,
  SyntheticTask,
  syntheticOptions,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';

/**
 * Streams generated sentences through `hsn encode`, for as many sentences or seconds as asked, and prints the
 * throughput and the memory at start, middle and end: node --import tsx bench/long-corpus.ts --sentences 10000000
 * With --width 32 the encoder is small, so that many sentences pass in little time.
 */
const { values } = parseArgs({
  options: {
    sentences: { type: 'string', default: '10000000' },
    seconds: { type: 'string', default: '600' },
    format: { type: 'string', default: 'jsonl' },
    symbols: { type: 'string', default: '100' },
    width: { type: 'string', default: '256' },
  },
});
const program = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));
const blockSentences = 200;

/** A run to encode with: what it learned does not matter for the time it takes. */
async function makeRun(
  folder: string,
): Promise<{ run: string; vocabulary: readonly string[]; length: number }> {
  const corpus = join(folder, 'corpus');
  const nodes = Number(values.symbols);
  writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, nodes, sentences: 5000 }, corpus);
  const read = readSyntheticCorpus(corpus);
  const width = Number(values.width);
  const config = syntheticOptions.parse({
    graph: { sweeps: 2 },
    encoder: { width, hidden: width },
    training: { steps: 1, batch: 64 },
  });
  const run = Run.create(join(folder, 'run'), config, { directory: corpus, fingerprint: read.fingerprint });
  await new Session(run, new SyntheticTask(config, read)).train();
  run.close();
  return { run: run.directory, vocabulary: read.vocabulary, length: read.length };
}

/** Sentences of random tokens, some at a time, without end. */
function* sentences(vocabulary: readonly string[], length: number): Generator<string> {
  const random = new Random(1);
  for (;;) {
    const lines = Array.from({ length: blockSentences }, () =>
      Array.from({ length }, () => vocabulary[random.int(vocabulary.length)]).join(' '),
    );
    yield `${lines.join('\n')}\n`;
  }
}

/** Processor time so far: what a machine with other work on it cannot distort as it does the clock. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMB(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

interface Sample {
  sentences: number;
  seconds: number;
  cpuSeconds: number;
  residentMB: number;
}

/** Writes blocks as fast as they are taken, and notes how it goes after each. */
async function stream(child: ReturnType<typeof spawn>, blocks: Iterable<string>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const began = performance.now();
  const limit = Number(values.sentences);
  let written = 0;
  for (const block of blocks) {
    if (!child.stdin!.write(block)) await once(child.stdin!, 'drain');
    written += blockSentences;
    const seconds = (performance.now() - began) / 1000;
    const { pid } = child;
    samples.push({ sentences: written, seconds, cpuSeconds: cpuSeconds(pid!), residentMB: residentMB(pid!) });
    if (written >= limit || seconds >= Number(values.seconds)) break;
  }
  return samples;
}

/** Sentences a second, and most memory, over a tenth of the samples. */
function part(samples: readonly Sample[], from: number) {
  const first = Math.floor(samples.length * from);
  const some = samples.slice(first, first + Math.max(2, Math.ceil(samples.length / 10)));
  const [a, b] = [some[0]!, some.at(-1)!];
  return {
    sentencesPerSecond: Math.round((b.sentences - a.sentences) / (b.seconds - a.seconds)),
    sentencesPerCpuSecond: Math.round((b.sentences - a.sentences) / (b.cpuSeconds - a.cpuSeconds)),
    residentMB: Math.max(...some.map((sample) => sample.residentMB)),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'hsn-long-'));
try {
  const { run, vocabulary, length } = await makeRun(folder);
  const sink = openSync('/dev/null', 'w');
  const args = [program, 'encode', run, '--format', values.format];
  const child = spawn(process.execPath, args, { stdio: ['pipe', sink, 'inherit'] });
  const samples = await stream(child, sentences(vocabulary, length));
  child.stdin!.end();
  await once(child, 'exit');
  closeSync(sink);
  const { sentences: count, seconds } = samples.at(-1)!;
  // The first tenth starts the engine and warms it up.
  const parts = { start: part(samples, 0.1), middle: part(samples, 0.5), end: part(samples, 0.9) };
  process.stdout.write(`${JSON.stringify({ sentences: count, seconds: Math.round(seconds), ...parts })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
