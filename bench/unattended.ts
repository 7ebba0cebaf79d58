import { fileURLToPath } from 'node:url';
import { allotted } from './budget.ts';
import { benches } from './catalogue.ts';
import { followBench } from './follow-bench.ts';
import { type BenchOptions, type Measurement, unmeasured } from './measure.ts';

const program = fileURLToPath(new URL('main.ts', import.meta.url));
/** Of the budget: what is planned with. The rest is for benches that take longer than they were given. */
const planned = 0.85;
/** A bench is ended by force after so many times its seconds, and so many more. */
const patience = { times: 1.5, more: 30 };

export interface Told {
  name: string;
  measurements: readonly Measurement[];
}

const say = (line: string): boolean => process.stderr.write(`${line}\n`);

/**
 * Every bench in a process of its own, one after the other, within so many minutes. One that fails, or takes too long,
 * has a line that says so; the rest go on.
 */
export async function runAll(minutes: number, options: BenchOptions): Promise<Told[]> {
  const began = performance.now();
  const spent = () => (performance.now() - began) / 1000;
  const names = Object.keys(benches).filter((name) => benches[name]!.minutes > 0);
  const told: Told[] = [];
  for (const [at, name] of names.entries()) {
    const shares = names.slice(at).map((later) => benches[later]!.minutes);
    const left = minutes * 60 * planned - spent();
    const { least } = benches[name]!;
    // Where time is short, those that come first have what they need at least.
    const seconds = Math.max(allotted(left, shares), least);
    say(
      `bench ${at + 1} of ${names.length}: ${name}, ${Math.round(seconds)} s; ${clock(spent())} of ${clock(minutes * 60)} gone`,
    );
    const most = Math.min(patience.times * seconds + patience.more, minutes * 60 - spent());
    const measurements: Measurement[] = [];
    const note = (line: Measurement) => {
      process.stdout.write(`${JSON.stringify(line)}\n`);
      measurements.push(line);
    };
    if (left < least) note(unmeasured(name, `left out: no time for it in a budget of ${minutes} minutes`));
    else {
      const args = ['--import', 'tsx', program, name, ...flagsOf(options), '--budget', `${seconds / 60}`];
      await followBench({ name, args, environment: options.environment, most }, note);
    }
    told.push({ name, measurements });
  }
  say(`all benches ended after ${clock(spent())}`);
  return told;
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

function flagsOf({ threads, rounds, corpus, python, peersFolder, processorTime }: BenchOptions): string[] {
  return [
    ...['--threads', `${threads}`, '--rounds', `${rounds}`],
    ...(corpus === undefined ? [] : ['--corpus', corpus]),
    ...(peersFolder === undefined ? ['--no-peers'] : ['--peers-folder', peersFolder]),
    ...['--python', python ?? ''],
    ...(processorTime ? ['--processor-time'] : []),
  ];
}
