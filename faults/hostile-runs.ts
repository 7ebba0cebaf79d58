import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startExplorer } from '@hidden-schema/explorer';
import { listRuns } from '@hidden-schema/hsn';
import { hostile } from '@hidden-schema/testing/hostile-tokenizers';
import { modelProcesses, mostProcesses, until } from '@hidden-schema/testing/processes';
import {
  brokenRuns,
  makeBrokenRuns,
  withBelievedTokenizer,
  withTokenizer,
  writeManyMetrics,
} from '../packages/explorer/test/hostile-files.ts';
import { request } from '../packages/explorer/test/requests.ts';
import { makeSmallLanguage } from '../packages/explorer/test/small-language.ts';
import { makeSmallRun } from '../packages/explorer/test/small-run.ts';
import type { Fault, Tally } from './tally.ts';

const CLI = fileURLToPath(new URL('../packages/cli/bin/hsn.js', import.meta.url));
/** Long enough for a machine that is busy with other things. */
const patient = { wait: 900_000, idle: 900_000 };

async function ask(url: string, address: string) {
  const { status, text } = await request(url, address);
  return { status, ...JSON.parse(text) };
}

/** Row 37 */
async function hostileTokenizers(tally: Tally): Promise<void> {
  const small = await makeSmallLanguage();
  try {
    const kinds = Object.keys(hostile);
    const run = (at: number) => path.join(small.runs, `hostile-${at}`);
    const believed = (at: number) => path.join(small.runs, `believed-${at}`);
    for (const [at, kind] of kinds.entries()) withTokenizer(small.run, run(at), kind);
    for (const [at, kind] of kinds.entries())
      await tally.expect(`hsn encode with ${kind}`, () => refusedByEncode(run(at), kind));
    for (const [at, kind] of kinds.entries()) withBelievedTokenizer(small.run, believed(at), kind);
    const explorer = await startExplorer({ run: small.runs, limits: patient });
    try {
      for (const [at, kind] of kinds.entries())
        for (const folder of [run(at), believed(at)])
          await tally.expect(`served with ${kind}, ${path.basename(folder)}`, () =>
            brokenAlone(explorer.url, path.basename(folder)),
          );
    } finally {
      await explorer.close();
    }
    await tally.expect('no process is left', () => assert.deepEqual(modelProcesses(), []));
    await tally.expect('the server is killed', () => endsWithServer(small.run));
  } finally {
    small.remove();
  }
}

async function refusedByEncode(run: string, kind: string): Promise<void> {
  fs.rmSync(path.join(process.env.HSN_CACHE!, 'tokenizers'), { recursive: true, force: true });
  const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [CLI, 'encode', run], (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
    child.stdin!.end('the cat is good\n');
  });
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /^hsn: [^\n]+\n$/);
  assert.match(ended.stderr.trimEnd(), hostile[kind]![1]);
}

/** The run says what is wrong, or works where the native library does not mind; the run beside it is shown. */
async function brokenAlone(url: string, id: string): Promise<void> {
  const { status, error } = await ask(url, `/api/graph?run=${id}`);
  if (status !== 200) {
    assert.equal(status, 409);
    assert.match(error.message, /^this run is broken: |tokenizer\.json|tokeni|vocabular|weights|UNK/i);
  }
  assert.equal((await ask(url, '/api/graph?run=first')).status, 200);
}

/** A server that is killed takes the processes of its models with it. */
async function endsWithServer(run: string): Promise<void> {
  const server = spawn(process.execPath, [CLI, 'serve', run], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(server.stdout!, 'data');
  await until(() => modelProcesses(server.pid).length > 0);
  const pids = modelProcesses(server.pid);
  server.kill('SIGKILL');
  await once(server, 'exit');
  await until(() => pids.every((pid) => !fs.existsSync(`/proc/${pid}`)));
}

/** Row 38 */
async function manyRuns(tally: Tally): Promise<void> {
  const small = await makeSmallRun();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-faults-runs-'));
  try {
    await eightAtOnce(tally, small.run, path.join(folder, 'eight'));
    await longMetrics(tally, path.join(folder, 'eight'));
    await brokenFolders(tally, small.run, path.join(folder, 'broken'));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.rmSync(small.folder, { recursive: true, force: true });
  }
}

async function eightAtOnce(tally: Tally, run: string, folder: string): Promise<void> {
  const ids = Array.from({ length: 8 }, (_, at) => `run-${at}`);
  for (const id of ids) fs.cpSync(run, path.join(folder, id), { recursive: true });
  const explorer = await startExplorer({ run: folder, limits: patient });
  try {
    const asked = Promise.all([...ids, ...ids].map((id) => request(explorer.url, `/api/graph?run=${id}`)));
    const most = await mostProcesses(asked);
    tally.notes.push(`${most} models were open at most`);
    await tally.expect('eight runs asked at once: three are open', () => assert.ok(most <= 3, `${most}`));
    for (const { status } of await asked)
      await tally.expect('one of sixteen requests to eight runs', () => assert.equal(status, 200));
  } finally {
    await explorer.close();
  }
}

async function longMetrics(tally: Tally, folder: string): Promise<void> {
  const count = tally.count(200_000);
  const runs = fs.readdirSync(folder);
  for (const run of runs) writeManyMetrics(path.join(folder, run, 'metrics.jsonl'), count);
  const explorer = await startExplorer({ run: folder, limits: patient });
  try {
    const delay = watchLoop();
    const list = await ask(explorer.url, '/api/runs');
    await tally.expect(`the list of ${runs.length} runs`, () =>
      assert.deepEqual([...new Set(list.runs.map((run: { lastStep: number }) => run.lastStep))], [count]),
    );
    for (const run of runs)
      await tally.expect(`${count} rows of ${run}`, async () => {
        const { total, curves } = await ask(explorer.url, `/api/curves?run=${run}`);
        assert.equal(total, count);
        for (const { x } of curves) assert.ok(x.length < 4002, `${x.length} points`);
      });
    const began = performance.now();
    for (const run of runs) await ask(explorer.url, `/api/curves?run=${run}&known=${count}`);
    const again = (performance.now() - began) / runs.length;
    const longest = delay();
    tally.notes.push(`asked again ${again.toFixed(1)} ms a run; longest pause ${Math.round(longest)} ms`);
    await tally.expect('the main thread is never held for a second', () =>
      assert.ok(longest < 1000, `${longest} ms`),
    );
  } finally {
    await explorer.close();
  }
}

/** The longest time for which the event loop did not turn; asked at the end. */
function watchLoop(): () => number {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

async function brokenFolders(tally: Tally, run: string, folder: string): Promise<void> {
  makeBrokenRuns(run, folder);
  const explorer = await startExplorer({ run: folder, limits: patient });
  try {
    const { runs } = await ask(explorer.url, '/api/runs');
    const said = listRuns(folder);
    for (const [name, [, fault]] of Object.entries(brokenRuns)) {
      await tally.expect(`${name} in the explorer`, () => {
        const found = runs.find((one: { id: string }) => one.id === name);
        assert.equal(found?.state, 'damaged');
        assert.match(found.fault, fault);
      });
      await tally.expect(`${name} in hsn runs`, () => {
        const found = said.find((one) => path.basename(one.run) === name);
        assert.equal(found?.state, 'damaged');
        assert.match(found!.fault!, fault);
      });
    }
  } finally {
    await explorer.close();
  }
}

export const faults: readonly Fault[] = [
  { row: 37, fault: 'hostile tokenizers in a run', inject: hostileTokenizers },
  { row: 38, fault: 'many runs at once, long metrics, broken run folders', inject: manyRuns },
];
