// npm run -s soak -- --minutes 30
// Trains the synthetic model, kills it with SIGKILL at random every 20 to 60 seconds, and continues it; beside it an
// uninterrupted run trains as many steps and never more. Prints one JSON line; the exit code is 1 unless the weights,
// moments, random state, place in the data and logged losses of both are equal to the bit.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { Random } from '@hidden-schema/base';
import {
  checkpointSteps,
  loadConfig,
  Run,
  readSyntheticCorpus,
  SYNTHETIC_DEFAULTS,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';
import { traces } from './small-runs.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    /** Seconds from one kill to the next: least and most. */
    kills: { type: 'string', default: '20-60' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const [least = 20, most = 60] = values.kills.split('-').map(Number);
if (!(minutes > 0 && least > 0 && most >= least))
  throw new Error('expected --minutes 30 --kills 20-60, both above 0');
const random = new Random(Number(values.seed));
const folder = values.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-soak-'));
const at = (name: string) => path.join(folder, name);
const program = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));
const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

/** Long enough never to end by itself; logged and saved often. */
const settings = `
seed: ${values.seed}
encoder: { width: 64, hidden: 64 }
training:
  { steps: 10000000, batch: 64, schedule: constant, logEvery: 10, evaluateEvery: 50, patience: 10000000 }
checkpoints: { every: 25, keep: 2 }
`;

function begin(): Run {
  writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, nodes: 50, sentences: 4000 }, at('corpus'));
  const corpus = readSyntheticCorpus(at('corpus'), { seed: Number(values.seed) });
  const info = { directory: at('corpus'), fingerprint: corpus.fingerprint };
  const config = loadConfig(settings, 'the soak');
  Run.create(at('reference'), config, info).close();
  const run = Run.create(at('killed'), config, info);
  run.close();
  return run;
}

function train(): ChildProcess {
  return spawn(process.execPath, [program, 'train', '--out', at('killed'), '--resume'], {
    stdio: ['ignore', 'ignore', fs.openSync(at('log.txt'), 'a')],
  });
}

/** The uninterrupted run: told how far it may go, and at last where it ends. */
function reference(): { child: ChildProcess; allow: (step: number, last: boolean) => void } {
  const script = fileURLToPath(new URL('./soak-reference.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, at('reference')], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  return { child, allow: (step, last) => child.stdin!.write(`${JSON.stringify({ step, last })}\n`) };
}

const lastStep = (run: Run): number => checkpointSteps(run).at(-1) ?? 0;

/** Loading may take long on a busy machine; the time to the next kill is counted from when the run is taken up. */
async function untilRunning(): Promise<void> {
  while (Run.open(at('killed')).state !== 'running') await pause(200);
}

/** Trains and kills until time is over; returns the number of kills. */
async function killAndContinue(run: Run, allow: (step: number, last: boolean) => void): Promise<number> {
  const end = performance.now() + minutes * 60_000;
  for (let kills = 0; ; kills++) {
    const child = train();
    const exited = once(child, 'exit');
    await Promise.race([exited, untilRunning()]);
    const seconds = least + (most - least) * random.next();
    const over = performance.now() + seconds * 1000 >= end;
    const wait = over ? Math.max(0, end - performance.now()) : seconds * 1000;
    const ended = await Promise.race([exited, pause(wait)]);
    if (ended) throw new Error(`training ended by itself with ${ended[0]}; see ${at('log.txt')}`);
    child.kill(over ? 'SIGTERM' : 'SIGKILL');
    const [code] = await exited;
    allow(lastStep(run), false);
    say(`${over ? 'stopped' : 'killed'} after ${seconds.toFixed(0)} s at step ${lastStep(run)}`);
    if (!over) continue;
    if (code !== 143) throw new Error(`SIGTERM ended training with ${code}, expected 143`);
    return kills;
  }
}

const run = begin();
const other = reference();
const kills = await killAndContinue(run, other.allow);
const steps = lastStep(run);
other.allow(steps, true);
await once(other.child, 'exit');
const [ours, theirs] = [traces(run), traces(Run.open(at('reference')))] as const;
const differing = Object.keys(ours).filter(
  (key) => !isDeepStrictEqual(ours[key as keyof typeof ours], theirs[key as keyof typeof theirs]),
);
const equal = differing.length === 0;
process.stdout.write(
  `${JSON.stringify({ soak: 'synthetic', minutes, kills, steps, equal, ...(equal ? {} : { differing, folder }) })}\n`,
);
if (!equal) process.exitCode = 1;
else if (!values.folder) fs.rmSync(folder, { recursive: true, force: true });
