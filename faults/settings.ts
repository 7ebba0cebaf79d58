import assert from 'node:assert/strict';
import { loadConfig } from '@hidden-schema/hsn';
import { type Fault, refusal, type Tally } from './tally.ts';

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
for (const [i, name] of [...'bcdefgh'].entries())
  bomb.push(`${name}: &${name} [${Array(9).fill(`*${'abcdefg'[i]}`).join(', ')}]`);

/** Row 27: each with what its message must say. */
const wrong: Record<string, [string, RegExp[]]> = {
  'an alias bomb': [bomb.join('\n'), [/at most 20 aliases/]],
  'an unknown key': [
    'training:\n  stepz: 3\n',
    [/training\.stepz, did you mean (training\.)?steps\? \(line 2\)/],
  ],
  'an unknown section': ['trainig: {}\n', [/trainig, did you mean training\?/]],
  'a duplicate key': ['seed: 1\nseed: 2\n', [/seed is given twice, expected once \(line 2\)/]],
  'a duplicate key inside': ['graph:\n  p: 0.1\n  p: 0.2\n', [/graph\.p is given twice/]],
  'a wrong type': ['training:\n  steps: many\n', [/training\.steps: expected a whole number .*, got "many"/]],
  'a list for a section': ['graph: [1]\n', [/graph: expected/]],
  'a value out of range': ['graph:\n  p: 1.5\n', [/graph\.p: expected a number .*, got 1\.5/]],
  'several at once': [
    'seed: -1\ngraph:\n  p: 0\n  prio: beta\ntraining:\n  rate: fast\n',
    [/has 4 faults/, /seed: expected/, /graph\.p: expected/, /graph\.prio/, /training\.rate: expected/],
  ],
  'no mapping': ['- 1\n- 2\n', [/expected "key: value" lines/]],
  'broken YAML': ['training: [1\n', [/line \d/]],
  'deep nesting': ['['.repeat(20_000), [/./]],
  'a million bytes too many': [`# ${'x'.repeat(1_100_000)}\n`, [/at most 1 MB, got 1\.1 MB/]],
  'ten thousand unknown keys': [
    Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join('\n'),
    [/has 10000 faults/, /and 9980 more/],
  ],
  'a key named __proto__': ['__proto__:\n  polluted: true\n', [/__proto__/]],
};

/** Floods that no row names: they must end in bounded time, and what they take is told. */
const floods = new Set(['ten thousand unknown keys', 'deep nesting']);
const limitMs = 100;
const floodLimitMs = 5000;

/** Milliseconds of processor time, at best of three: the first time also compiles what it runs. */
async function cost(body: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const began = process.cpuUsage();
    await body();
    const { user, system } = process.cpuUsage(began);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

async function wrongSettings(tally: Tally): Promise<void> {
  let slowest = { what: '', ms: 0 };
  const flooded: string[] = [];
  for (const [what, [text, expected]] of Object.entries(wrong))
    await tally.expect(what, async () => {
      const said = await refusal(() => loadConfig(text, 'settings.yaml'));
      for (const pattern of expected) assert.match(said, pattern);
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
      const ms = await cost(() => refusal(() => loadConfig(text, 'settings.yaml')));
      const flood = floods.has(what);
      if (flood) flooded.push(`${what} ${Math.round(ms)} ms`);
      else if (ms > slowest.ms) slowest = { what, ms };
      assert.ok(ms < (flood ? floodLimitMs : limitMs), `it took ${ms} ms`);
    });
  tally.notes.push(
    `the slowest within ${limitMs} ms was ${slowest.what}: ${Math.round(slowest.ms)} ms of processor time`,
    `floods, bounded by ${floodLimitMs} ms only: ${flooded.join(', ')}`,
  );
}

export const faults: readonly Fault[] = [
  { row: 27, fault: 'alias bombs, unknown and duplicate keys, wrong values', inject: wrongSettings },
];
