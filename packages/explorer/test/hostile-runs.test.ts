import fs from 'node:fs';
import path from 'node:path';
import { listRuns, MetricsFollower } from '@hidden-schema/hsn';
import { modelProcesses, mostProcesses, until } from '@hidden-schema/testing/processes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startExplorer } from '../src/server/index.ts';
import { Inference } from '../src/server/inference.ts';
import { type Answer, endpoints } from '../src/shared/api.ts';
import { brokenRuns, makeBrokenRuns, writeManyMetrics } from './hostile-files.ts';
import { request } from './requests.ts';
import { makeSmallRun, type SmallRun } from './small-run.ts';

let small: SmallRun;
beforeAll(async () => {
  small = await makeSmallRun();
}, 120_000);
afterAll(() => {
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});
const copies = (folder: string, count: number): string => {
  for (let at = 0; at < count; at++)
    fs.cpSync(small.run, path.join(small.folder, folder, `run-${at}`), { recursive: true });
  return path.join(small.folder, folder);
};

test('of more runs than may be open, no more are, and all are answered', async () => {
  const explorer = await startExplorer({
    run: copies('many', 4),
    limits: { open: 2, wait: 600_000, idle: 600_000 },
  });
  try {
    const ask = (at: number) => request(explorer.url, `/api/graph?run=run-${at}`);
    const asked = Promise.all([0, 1, 2, 3, 0].map(ask));
    expect(await mostProcesses(asked)).toBe(2);
    expect((await asked).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const list = JSON.parse((await request(explorer.url, '/api/run?run=run-1')).text);
    expect(list).toMatchObject({ id: 'run-1', state: 'finished', fault: null });
  } finally {
    await explorer.close();
  }
  expect(modelProcesses()).toEqual([]);
}, 240_000);

test('a request that waits too long for other models says so', async () => {
  const explorer = await startExplorer({ run: copies('busy', 2), limits: { open: 1, wait: 1 } });
  try {
    // The first run's model is still being opened.
    const reply = await request(explorer.url, '/api/graph?run=run-1');
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(reply.text).toContain('the models of 1 other runs are open and in use');
  } finally {
    await explorer.close();
  }
});

test('a process that gives no sign of life is ended, and the next request starts another', async () => {
  const limits = { queue: 4, silence: 600_000 };
  const inference = new Inference(small.run, limits);
  const going = setInterval(() => undefined, 1000);
  try {
    await inference.ask('opened', undefined);
    const [pid] = modelProcesses() as [number];
    limits.silence = 1500;
    process.kill(pid, 'SIGSTOP');
    await expect(inference.ask('graph', {})).rejects.toThrow(/no sign of life for 2 s/);
    await until(() => !modelProcesses().includes(pid));
    limits.silence = 600_000;
    expect((await inference.ask('graph', {})).nodes).toHaveLength(12);
  } finally {
    clearInterval(going);
    await inference.close();
  }
  expect(modelProcesses()).toEqual([]);
}, 120_000);

test('a process that is killed while it works costs that request only', async () => {
  const inference = new Inference(small.run, { queue: 4, silence: 600_000 });
  const going = setInterval(() => undefined, 1000);
  try {
    await inference.ask('opened', undefined);
    process.kill(modelProcesses()[0]!, 'SIGSTOP');
    const lost = expect(inference.ask('graph', {})).rejects.toMatchObject({ status: 500, code: 'broken' });
    process.kill(modelProcesses()[0]!, 'SIGKILL');
    await lost;
    expect((await inference.ask('graph', {})).nodes).toHaveLength(12);
  } finally {
    clearInterval(going);
    await inference.close();
  }
}, 120_000);

describe('broken files in a run', () => {
  test('every broken run is listed with its reason, by the command line and the explorer alike', async () => {
    const folder = makeBrokenRuns(small.run, path.join(small.folder, 'broken'));
    fs.cpSync(small.run, path.join(folder, 'whole'), { recursive: true });
    const explorer = await startExplorer({ run: folder });
    try {
      const reply = await request(explorer.url, '/api/runs');
      const { runs } = endpoints.runs.response.parse(JSON.parse(reply.text)) as Answer<'runs'>;
      const said = listRuns(folder);
      expect(runs.map(({ name }) => name)).toEqual([...Object.keys(brokenRuns), 'whole'].sort());
      for (const [at, { name, state, fault }] of runs.entries()) {
        expect([name, state]).toEqual([name, name === 'whole' ? 'finished' : 'damaged']);
        expect([said[at]!.state, said[at]!.fault ?? null]).toEqual([state, fault]);
        if (name !== 'whole') expect(fault).toMatch(brokenRuns[name]![1]);
      }
      for (const name of ['pipe-run', 'cut-run']) {
        const one = await request(explorer.url, `/api/run?run=${name}`);
        expect(one.status).toBe(409);
        expect(JSON.parse(one.text).error.message).toMatch(brokenRuns[name]![1]);
      }
      // Only its figures are gone, so the rest is shown.
      const half = JSON.parse((await request(explorer.url, '/api/run?run=cut-evaluation')).text);
      expect(half).toMatchObject({ state: 'finished' });
      expect(half.fault).toMatch(brokenRuns['cut-evaluation']![1]);
      expect((await request(explorer.url, '/api/curves?run=pipe-metrics')).status).toBe(409);
    } finally {
      await explorer.close();
    }
  }, 120_000);
});

describe('long metrics', () => {
  const COUNT = 60_000;

  test('others are answered while they are read, and curves stay short', async () => {
    const folder = copies('long', 1);
    const file = path.join(folder, 'run-0', 'metrics.jsonl');
    writeManyMetrics(file, COUNT);
    const explorer = await startExplorer({ run: folder });
    try {
      const order: string[] = [];
      const ask = async (name: string, address: string) => {
        const reply = await request(explorer.url, address);
        order.push(name);
        return JSON.parse(reply.text);
      };
      const slow = ask('curves', '/api/curves');
      for (let at = 0; at < 3; at++) await ask('list', '/api/runs');
      const { total, curves } = (await slow) as Answer<'curves'>;
      expect(order).toEqual(['list', 'list', 'list', 'curves']);
      expect(total).toBe(COUNT);
      for (const { x } of curves!) expect(x.length).toBeLessThan(4002);
      expect(curves![0]!.x.at(-1)).toBe(COUNT);
      expect(await ask('again', `/api/curves?known=${COUNT}`)).toMatchObject({ total: COUNT, curves: null });
      const rows = await ask('rows', `/api/metrics?from=${COUNT - 3}`);
      expect(rows.rows.map(({ step }: { step: number }) => step)).toEqual([COUNT - 2, COUNT - 1, COUNT]);
      const later = await ask('later', `/api/metrics?after=${COUNT - 6000}`);
      expect([later.rows.length, later.rows[0].step]).toEqual([5000, COUNT - 5999]);
      expect((await ask('list', '/api/runs')).runs[0].lastStep).toBe(COUNT);
    } finally {
      await explorer.close();
    }
  }, 120_000);

  test('rows are read once, and again only where the file was begun anew', async () => {
    const file = path.join(small.folder, 'followed.jsonl');
    const seen: number[] = [];
    let restarts = 0;
    const follower = new MetricsFollower(file, {
      onRow: ({ step }) => seen.push(step),
      onRestart: () => restarts++,
    });
    await follower.advance();
    expect(follower.total).toBe(0);
    writeManyMetrics(file, 3000);
    await Promise.all([follower.advance(), follower.advance()]);
    fs.appendFileSync(file, '{"step":3001,"epoch":0,"time":1,"loss":2}\n{"step":3002,"epo');
    await follower.advance();
    expect([seen.length, seen.at(-1), follower.total, restarts]).toEqual([3001, 3001, 3001, 0]);
    fs.appendFileSync(file, 'ch":0,"time":1}\nno row\n');
    await follower.advance();
    expect([seen.length, seen.at(-1)]).toEqual([3002, 3002]);
    // As long as before, with other rows at its end: what a resumed run leaves.
    const text = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, text.replace('"time":1}\nno row', '"time":2}\nno row'));
    await follower.advance();
    expect([restarts, seen.length]).toEqual([1, 6004]);
    fs.truncateSync(file, 1000);
    await follower.advance();
    expect([restarts, follower.total]).toEqual([2, seen.length - 6004]);
    expect((await follower.rows(2, -1, 3)).map(({ step }) => step)).toEqual([3, 4, 5]);
  });
});
