import { displayWidth } from '@hidden-schema/base';
import { expect, test } from 'vitest';
import { formatDuration, Progress, type ProgressOptions } from '../src/run/progress.ts';

/** An output that keeps what is written, and a clock moved by hand. */
function setup(options: Partial<ProgressOptions> & { tty?: boolean; columns?: number } = {}) {
  const { tty = false, columns = 80, ...rest } = options;
  const written: string[] = [];
  const clock = { time: 0 };
  const output = { isTTY: tty, columns, write: (text: string) => written.push(text) };
  const progress = new Progress({ label: 'train', total: 600, output, now: () => clock.time, ...rest });
  return { progress, written, clock };
}

const escapeSign = '\x1b';
const frames = (written: readonly string[]) => written.map((text) => text.replace(`\r${escapeSign}[2K`, ''));

test('without a terminal: a plain line first, then at most every ten seconds', () => {
  const { progress, written, clock } = setup();
  for (let step = 1; step <= 250; step++) {
    clock.time += 100;
    progress.update(step, { loss: 1 / step });
  }
  expect(written).toEqual([
    'train   0%   1/600 · 10 steps/s · 1:00 left · loss 1\n',
    'train  16% 101/600 · 10 steps/s · 50 s left · loss 0.00990\n',
    'train  33% 201/600 · 10 steps/s · 40 s left · loss 0.00498\n',
  ]);
  expect(written.join('')).not.toContain(escapeSign);
});

test('made after the first steps, it tells no rate of them', () => {
  const { progress, written, clock } = setup();
  clock.time += 0.1;
  progress.update(200);
  expect(written).toEqual(['train  33% 200/600\n']);
});

test('on a terminal: one line that is redrawn, never faster than ten times a second', () => {
  const { progress, written, clock } = setup({ tty: true, columns: 120 });
  for (let step = 1; step <= 300; step++) {
    clock.time += 10;
    progress.update(step, { loss: 2.5, auc: 0.9876 });
  }
  expect(written.length).toBe(30);
  expect(written.every((text) => text.startsWith(`\r${escapeSign}[2K`) && !text.includes('\n'))).toBe(true);
  expect(frames(written).at(-1)).toBe(
    'train █████████░░░░░░░░░░░  48% 291/600 · 100 steps/s · 3.1 s left · loss 2.50 · auc 0.988',
  );
});

test('on a terminal: a line is never as wide as the terminal', () => {
  for (const columns of [1, 2, 10, 24, 40, 79, 200]) {
    const { progress, written, clock } = setup({ tty: true, columns, label: '训练\u0007 run\n' });
    clock.time = 1000;
    progress.update(100, { loss: 1.25, kl: 3, schemas: 'a very long value that fills the line' });
    const line = frames(written)[0]!;
    expect(displayWidth(line)).toBeLessThan(Math.max(2, columns));
    expect(line).not.toMatch(/\p{Cc}/u);
    if (columns < 60) expect(line.endsWith('…')).toBe(true);
  }
});

test('a note stands above the live line, and the end leaves one line', () => {
  const { progress, written, clock } = setup({ tty: true });
  clock.time = 1000;
  progress.update(100, { loss: 1.5 });
  progress.note('saved step-100');
  clock.time = 65_000;
  progress.update(600);
  progress.finish('best 1.25 at step 500');
  progress.finish();
  progress.update(700);
  expect(written[1]).toBe(`\r${escapeSign}[2K`);
  expect(written[2]).toBe('saved step-100\n');
  expect(frames(written)[3]).toContain('100/600');
  expect(written.at(-1)).toBe('train: 600 steps in 1:05 · loss 1.50 · best 1.25 at step 500\n');
});

test('the rate of a resumed run counts its own steps only', () => {
  const { progress, written, clock } = setup({ start: 500 });
  clock.time = 10_000;
  progress.update(510);
  expect(written).toEqual(['train  85% 510/600 · 1.0 steps/s · 1:30 left\n']);
});

test('the rate follows a change of speed', () => {
  const { progress, written, clock } = setup({ total: 10_000 });
  for (let step = 1; step <= 1000; step++) {
    clock.time += step <= 500 ? 10 : 1000;
    progress.update(step);
  }
  expect(written.at(-1)).toContain('1.0 steps/s · 2:30:');
});

test('slow steps are told in seconds a step, no work in no rate', () => {
  const slow = setup({ total: 3 });
  slow.clock.time = 20_000;
  slow.progress.update(1);
  expect(slow.written).toEqual(['train  33% 1/3 · 20 s a step · 40 s left\n']);
  const none = setup({ total: 0 });
  none.progress.update(0);
  none.progress.finish();
  expect(none.written).toEqual(['train 100% 0/0\n', 'train: 0 steps in 0.0 s\n']);
});

test('durations', () => {
  expect([0, 0.42, 9.96, 59.4, 59.6, 125, 3725, 360_000].map(formatDuration)).toEqual([
    '0.0 s',
    '0.4 s',
    '10 s',
    '59 s',
    '1:00',
    '2:05',
    '1:02:05',
    '100:00:00',
  ]);
});
