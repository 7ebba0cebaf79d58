import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { lastMetrics, MetricsLog, readMetrics } from '../src/run/metrics.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-metrics-'));
const file = path.join(folder, 'metrics.jsonl');
const now = () => 1_700_000_000_123.4;
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
beforeEach(() => fs.rmSync(file, { force: true }));

function write(steps: readonly number[]): void {
  const log = new MetricsLog(file, { now });
  for (const step of steps) log.append(step, 0, { loss: step / 4 });
  log.close();
}

const steps = () => readMetrics(file).rows.map(({ step }) => step);

test('each line is in the file when append returns', () => {
  const log = new MetricsLog(file, { now });
  log.append(20, 1, { loss: 0.1, kl_walk: 3 });
  expect(fs.readFileSync(file, 'utf8')).toMatch(
    /^\{"step":20,"epoch":1,"time":1700000000\.123,"loss":0\.1,"kl_walk":3,"crc":"[0-9a-f]{8}"\}\n$/,
  );
  log.close();
  expect(readMetrics(file)).toEqual({
    rows: [{ step: 20, epoch: 1, time: 1700000000.123, loss: 0.1, kl_walk: 3 }],
    skipped: 0,
    cut: false,
  });
});

test('a number that is not finite is null in the file and NaN when read', () => {
  const log = new MetricsLog(file, { now });
  log.append(1, 0, { loss: Number.NaN, bound: Number.NEGATIVE_INFINITY });
  log.close();
  expect(fs.readFileSync(file, 'utf8')).toContain('"loss":null,"bound":null');
  expect(readMetrics(file).rows[0]).toMatchObject({ loss: Number.NaN, bound: Number.NaN });
});

test('a file cut anywhere opens again without the cut line, and goes on', () => {
  write([1, 2, 3]);
  const whole = fs.readFileSync(file);
  const ends = [0, ...[...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1)];
  for (let length = 0; length <= whole.length; length++) {
    fs.writeFileSync(file, whole.subarray(0, length));
    const kept = ends.filter((end) => end <= length).length - 1;
    expect(readMetrics(file).rows.length).toBe(kept);
    write([9]);
    expect(steps()).toEqual([...[1, 2, 3].slice(0, kept), 9]);
    expect(readMetrics(file).skipped).toBe(0);
  }
});

test('a damaged line between good ones is passed over and counted, not cut', () => {
  write([1, 2]);
  fs.appendFileSync(file, '\0\0\0\n{"step":1.5,"epoch":0,"time":0}\n[1]\n');
  // As 0.2 wrote it, without a checksum.
  fs.appendFileSync(file, '{"step":3,"epoch":0,"time":0}\n');
  write([4]);
  expect(steps()).toEqual([1, 2, 3, 4]);
  expect(readMetrics(file).skipped).toBe(3);
});

test('truncateAfter drops later steps and appending goes on from there', () => {
  write([10, 20, 20, 30, 40]);
  const log = new MetricsLog(file, { now });
  log.truncateAfter(20);
  log.append(25, 0, {});
  log.truncateAfter(100);
  log.close();
  expect(steps()).toEqual([10, 20, 20, 25]);
  const again = new MetricsLog(file, { now });
  again.truncateAfter(0);
  again.close();
  expect(fs.statSync(file).size).toBe(0);
});

test('a file that cannot be opened or read is named', () => {
  expect(() => new MetricsLog(path.join(folder, 'none', 'metrics.jsonl'))).toThrow(UserError);
  expect(() => readMetrics(path.join(folder, 'none.jsonl'))).toThrow(/cannot read .*none\.jsonl: ENOENT/);
});

test('a named pipe is refused at once, not waited for', () => {
  execFileSync('mkfifo', [file]);
  expect(() => readMetrics(file)).toThrow('is a named pipe');
  expect(() => lastMetrics(file, 3)).toThrow('is a named pipe');
});

test('the last rows of metrics are those at the end of the whole file', () => {
  const log = new MetricsLog(file);
  for (let step = 1; step <= 9000; step++) log.append(step, 0, { loss: 1 / step, more: step * 1e6 + 0.123 });
  log.close();
  fs.appendFileSync(file, '{"step":9001,"epo');
  expect(fs.statSync(file).size).toBeGreaterThan(3 * 2 ** 18);
  const { rows } = readMetrics(file);
  for (const most of [1, 1000, 4000, 20_000])
    expect(lastMetrics(file, most)).toEqual({ rows: rows.slice(-most), skipped: 1, cut: true });
  expect(lastMetrics(path.join(folder, 'no-metrics'), 5).rows).toEqual([]);
});

test('a bit that is flipped anywhere is noticed, and costs no other line', () => {
  write([1, 2, 3]);
  const whole = fs.readFileSync(file);
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    fs.writeFileSync(file, flipped);
    const { rows, skipped } = readMetrics(file);
    expect(skipped, `bit ${bit}`).toBeGreaterThan(0);
    expect(lastMetrics(file, 5)).toMatchObject({ rows, skipped });
    // A line feed joins or parts two lines.
    expect(rows.length).toBeGreaterThanOrEqual(1);
    for (const { step, loss } of rows) expect(loss).toBe(step / 4);
  }
});
