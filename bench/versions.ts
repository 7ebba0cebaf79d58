import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as settle } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base';
import { type BenchOptions, costLine, type Measurement, median } from './measure.ts';
import { Peer } from './peer.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';
import { walkSizes } from './walk.ts';

const ROOT = path.join(import.meta.dirname, '..');
/** Written once an older version is installed whole. */
const READY = '.bench-ready';
/** Threads of one side's products spin for a while after them. */
const settleMs = 60;
/** What a version may be slower than the one before and still count as no slower. */
const leastRatio = 0.97;

/** A program that both versions run, with what is asked of it. */
interface Program {
  script: string;
  /** The older version's own copy of it; else today's program runs that version's code. */
  own: boolean;
  requests: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Answer = Record<string, number>;

/** Today beside an older commit: engine, walk and language, in turns. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  if (options.old === undefined) {
    process.stderr.write('no versions: name the commit to compare with, as in --old v0.1.0\n');
    return;
  }
  const { folder, hash } = installed(options.old);
  for (const program of await programs(options)) yield* compared(program, folder, hash, options);
}

async function programs({ corpus }: BenchOptions): Promise<Program[]> {
  const lengths = batchAt(await sentenceLengths(corpus), 0.5, 32);
  const walk = (symbols: number, model: string) => ({ ...walkSizes, symbols, model, repeat: 3 });
  return [
    {
      script: 'version-step.ts',
      own: false,
      requests: {
        'engine: product of 1024': { do: 'product', repeat: 20 },
        'engine: 2000 small operators with gradient': { do: 'sums', repeat: 10 },
        'engine: training step of an attention block': { do: 'block', repeat: 10 },
        'language: encoding with MiniLM, 32 sentences': { do: 'encoding', repeat: 5 },
        'language: 32 new tokens from GPT-2 small, batch 8': { do: 'writing', repeat: 1 },
      },
    },
    {
      script: 'walk-step.ts',
      own: true,
      requests: {
        "walk: step with the paper's graph, K = 100": walk(100, 'paper'),
        "walk: step with the paper's graph, K = 400": walk(400, 'paper'),
        'walk: step with the closed-form graph, K = 100': walk(100, 'closed-form'),
      },
    },
    {
      script: 'language-step.ts',
      own: true,
      requests: { 'language: step, BERT-base and GPT-2 small, 32 sentences': { do: 'step', lengths } },
    },
  ];
}

async function* compared(
  { script, own, requests }: Program,
  folder: string,
  hash: string,
  options: BenchOptions,
): AsyncGenerator<Measurement> {
  const start = (checkout: string) => {
    const environment = { ...options.environment, HSN_BENCH_CHECKOUT: checkout };
    return Peer.node(path.join(own ? checkout : ROOT, 'bench', script), { ...options, environment });
  };
  const [today, before] = [start(ROOT), start(folder)];
  for (const [name, request] of Object.entries(requests)) {
    const answers = await turns(today, before, request, options.rounds);
    const [ours, theirs] = answers.map((all) => median(all.map(({ seconds }) => seconds!))) as [
      number,
      number,
    ];
    const what = `${name}, ${hash.slice(0, 7)} (peer)${sizes(answers)}`;
    yield costLine(what, 's', [ours, theirs], leastRatio);
    const [memory, earlier] = answers.map((all) => all.at(-1)!.peakMB) as [number?, number?];
    if (memory !== undefined && earlier !== undefined)
      yield costLine(`${what}: memory`, 'MB', [memory, earlier], leastRatio);
  }
  await Promise.all([today.stop(), before.stop()]);
}

/** Answers of today's program and the older one, which take turns; round 0 warms up and is not counted. */
async function turns(
  today: Peer,
  before: Peer,
  request: Readonly<Record<string, unknown>>,
  rounds: number,
): Promise<[Answer[], Answer[]]> {
  const answers: [Answer[], Answer[]] = [[], []];
  for (let round = 0; round <= rounds; round++)
    for (const [side, program] of [today, before].entries()) {
      await settle(settleMs);
      const answer = await program.ask(request);
      if (round > 0) answers[side]!.push(answer);
    }
  return answers;
}

/** Says so where the two versions do not train the same number of parameters, which makes their times another thing. */
function sizes(answers: readonly (readonly Answer[])[]): string {
  const [ours, theirs] = answers.map((all) => all[0]?.parameters);
  if (ours === undefined || theirs === undefined || Math.abs(ours / theirs - 1) < 0.001) return '';
  return `, ${ours} parameters beside ${theirs}`;
}

/** An older commit in a folder of its own, installed with its engine; one that is there already is taken. */
function installed(commit: string): { folder: string; hash: string } {
  const hash = commitHash(commit);
  const folder = path.join(tmpdir(), `hsn-bench-${hash.slice(0, 12)}`);
  if (existsSync(path.join(folder, READY))) return { folder, hash };
  process.stderr.write(`installing ${hash.slice(0, 7)} into ${folder}: minutes, with the engine\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const archive = path.join(folder, 'commit.tar');
  execFileSync('git', ['archive', '--output', archive, hash], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: folder });
  rmSync(archive);
  const told = { cwd: folder, stdio: ['ignore', 2, 2] as ('ignore' | number)[] };
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], told);
  writeFileSync(path.join(folder, READY), '');
  return { folder, hash };
}

function commitHash(commit: string): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    throw new UserError(
      `${commit} is no commit of this repository; expected one as git names it, such as v0.1.0`,
    );
  }
}
