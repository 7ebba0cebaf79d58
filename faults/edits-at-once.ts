import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '@hidden-schema/base';
import { type Ended, HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { copyRun, type PlantedRun, plantRun, SYMBOLS, stateOf } from './planted-edits.ts';
import type { Fault, Tally } from './tally.ts';

/** Two commands on one run; one that looks changes nothing. */
interface Pair {
  what: string;
  first: string[];
  second: string[];
}

const [A, B] = [1, 4];
const last = SYMBOLS - 1;

function pairsOf(run: string, { more }: PlantedRun): Pair[] {
  const merge = ['merge', run, String(A), String(B)];
  return [
    { what: 'update and merge', first: ['update', run, more[0]], second: merge },
    { what: 'update and update', first: ['update', run, more[0]], second: ['update', run, more[1]] },
    // The last symbol gets the number that the merge frees.
    { what: 'rename and merge', first: ['rename', run, String(last), 'mine'], second: merge },
    { what: 'look and merge', first: ['symbols', run, '--json'], second: merge },
    { what: 'verify and merge', first: ['verify', run], second: merge },
    { what: 'undo and merge', first: ['undo', run], second: merge },
  ];
}

/** Milliseconds that a command takes in a process of its own. */
async function lastsOf(run: string, from: string, args: readonly string[]): Promise<number> {
  copyRun(from, run);
  const began = performance.now();
  await new HsnProcess(args).ended;
  return performance.now() - began;
}

/** Longer than a command waits for another one, and than any command takes. */
const PATIENCE_MS = 60_000;

/** Waits until a process has a file of the run open, or has ended: half of what it takes is its start. */
async function touches({ child, ended }: HsnProcess, run: string): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const open = `/proc/${child.pid}/fd`;
  const isOfRun = (fd: string): boolean => {
    try {
      return fs.readlinkSync(`${open}/${fd}`).startsWith(`${run}/`);
    } catch {
      return false;
    }
  };
  while (!over && fs.existsSync(open) && !fs.readdirSync(open).some(isOfRun)) await sleep(1);
}

/**
 * Both commands at once; one of them is stopped at a random moment, mostly until the other has ended. Every second time
 * the moment is counted from when it first has a file of the run open.
 */
async function atATime(
  commands: readonly (readonly string[])[],
  { lasts, run, fromTouch }: { lasts: readonly number[]; run: string; fromTouch: boolean },
  random: Random,
): Promise<Ended[]> {
  const stopped = random.int(2);
  const processes = commands.map((args) => new HsnProcess(args));
  const [one, other] = [processes[stopped]!, processes[1 - stopped]!];
  if (fromTouch) await touches(one, run);
  await sleep(random.int(Math.ceil(fromTouch ? lasts[stopped]! / 3 : lasts[stopped]!)));
  one.child.kill('SIGSTOP');
  const pause = random.int(4) === 0 ? random.int(1000) : PATIENCE_MS;
  await Promise.race([other.ended, sleep(pause, undefined, { ref: false })]);
  one.child.kill('SIGCONT');
  return Promise.all(processes.map(({ ended }) => ended));
}

/** What a pair of commands came to: which of them said that it was done, and the run afterwards. */
const outcomeOf = (done: readonly boolean[], run: string): string => `${done.join()} ${stateOf(run)}`;

/** Outcomes of a pair one after the other, in either order, or with one of them refused. */
async function serialOutcomes(run: string, from: string, pair: Pair): Promise<Map<string, string>> {
  const orders = { both: [0, 1], turned: [1, 0], first: [0], second: [1] };
  const outcomes = new Map<string, string>();
  for (const [name, order] of Object.entries(orders)) {
    copyRun(from, run);
    const done = [false, false];
    for (const at of order) done[at] = (await hsn(...[pair.first, pair.second][at]!)).code === 0;
    outcomes.set(outcomeOf(done, run), name);
  }
  return outcomes;
}

/** What looking prints before and after an edit. */
async function looksOf(run: string, from: string, { first, second }: Pair): Promise<string[]> {
  copyRun(from, run);
  const before = (await hsn(...first)).stdout;
  await hsn(...second);
  return [before, (await hsn(...first)).stdout];
}

const isLook = ({ first }: Pair): boolean => ['symbols', 'verify'].includes(first[0]!);

interface Known {
  from: string;
  /** Milliseconds that each command takes by itself. */
  lasts: number[];
  outcomes: Map<string, string>;
  /** Of a command that looks. */
  looks: string[];
}

/** Both commands at once, on a copy of the run; gives which order it came to. */
async function together(run: string, pair: Pair, known: Known, random: Random): Promise<string> {
  const { from, lasts, outcomes, looks } = known;
  copyRun(from, run);
  const fromTouch = random.int(2) === 0;
  const ended = await atATime([pair.first, pair.second], { lasts, run, fromTouch }, random);
  const said = ended.map(({ code, stderr }) => `${code}: ${stderr}`).join(' | ');
  for (const { code, stderr } of ended)
    assert.ok(code === 0 || /^hsn: [^\n]+\n$/m.test(stderr), `refused without a line: ${said}`);
  const done = ended.map(({ code }) => code === 0);
  const order = outcomes.get(outcomeOf(done, run));
  assert.ok(order !== undefined, `ended as neither order does: ${said}`);
  if (isLook(pair)) {
    assert.ok(done[0], said);
    assert.ok(looks.includes(ended[0]!.stdout), `what was seen is of neither state: ${said}`);
  }
  return order;
}

/** Row 45: two edits at once, stopped at random moments, end as one after the other. */
async function atOnce(tally: Tally): Promise<void> {
  const planted = await plantRun(tally);
  const run = tally.path('copy');
  // One edit that can be undone.
  assert.equal((await hsn('split', copyRun(planted.run, tally.path('split')), planted.largest)).code, 0);
  const pairs = pairsOf(run, planted);
  const known = new Map<Pair, Known>();
  for (const pair of pairs.slice(0, tally.count(100))) {
    const from = pair.first[0] === 'undo' ? tally.path('split') : planted.run;
    const outcomes = await serialOutcomes(run, from, pair);
    const lasts = [await lastsOf(run, from, pair.first), await lastsOf(run, from, pair.second)];
    known.set(pair, { from, lasts, outcomes, looks: isLook(pair) ? await looksOf(run, from, pair) : [] });
  }
  const random = new Random(45);
  const ends = new Map<string, number>();
  for (let n = 0; n < tally.count(100); n++) {
    const pair = pairs[n % pairs.length]!;
    await tally.expect(`pair ${n}, ${pair.what}`, async () => {
      const end = `${pair.what}: ${await together(run, pair, known.get(pair)!, random)}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    });
  }
  tally.notes.push(...[...ends].map(([what, count]) => `${what} ${count}`));
}

const failing = fileURLToPath(new URL('failing-rename.c', import.meta.url));

/** Row 47: an I/O error at each rename of an edit says on which side of the decision it was. */
async function failedRenames(tally: Tally): Promise<void> {
  const library = tally.path('failing-rename.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, failing, '-ldl'], { stdio: 'pipe' });
  } catch {
    tally.notes.push('not injected: no C compiler');
    return;
  }
  const planted = await plantRun(tally);
  const edited = copyRun(planted.run, tally.path('edited'));
  assert.equal((await hsn('merge', edited, '2', '3')).code, 0);
  const run = tally.path('copy');
  const edits: [from: string, args: string[]][] = [
    [planted.run, ['merge', run, String(A), String(B)]],
    [edited, ['undo', run]],
    [planted.run, ['split', run, planted.largest]],
    [planted.run, ['update', run, planted.more[0]]],
  ];
  const step = Math.max(1, Math.round(0.15 / tally.share));
  for (const [from, args] of edits.slice(0, tally.count(edits.length, 2))) {
    const before = stateOf(copyRun(from, run));
    await hsn(...args);
    const after = stateOf(run);
    for (let n = 1, through = false; !through; n += step)
      await tally.expect(`hsn ${args[0]}, rename ${n}`, async () => {
        copyRun(from, run);
        const { code, stderr } = await failingAt(n, run, library, args);
        through = code === 0;
        if (through) return assert.equal(stateOf(run), after);
        const stands = /the edit stands \(.*the next command that writes to .* completes it\n$/.test(stderr);
        assert.ok(stands || /nothing was changed|is unchanged|cannot store/.test(stderr), stderr);
        assert.doesNotMatch(stderr, /unexpected|\n {4}at /);
        assert.equal(stateOf(run), stands ? after : before, `${stands ? 'stands' : 'nothing changed'}, yet`);
        await repeated(run, args, { stands, after });
      });
  }
}

/** The command again: it completes what stands and does nothing else, or does it now. */
async function repeated(
  run: string,
  args: readonly string[],
  { stands, after }: { stands: boolean; after: string },
): Promise<void> {
  const { code, stderr } = await hsn(...args);
  if (stands) {
    assert.equal(code, 1);
    assert.match(stderr, /an unfinished edit of .* was completed now .*; nothing else was done/);
  } else assert.equal(code, 0, stderr);
  assert.equal(stateOf(run), after);
}

function failingAt(n: number, run: string, library: string, args: readonly string[]): Promise<Ended> {
  Object.assign(process.env, { LD_PRELOAD: library, FAIL_BELOW: `${run}/`, FAIL_AT: String(n) });
  try {
    return new HsnProcess(args).ended;
  } finally {
    for (const name of ['LD_PRELOAD', 'FAIL_BELOW', 'FAIL_AT']) delete process.env[name];
  }
}

export const faults: readonly Fault[] = [
  { row: 45, fault: 'two edits at once, stopped at random moments', inject: atOnce },
  { row: 47, fault: 'an I/O error at each rename of an edit', inject: failedRenames },
];
