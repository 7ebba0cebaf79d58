import { UserError } from '@hidden-schema/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { syntheticOptions } from '../src/config/network.ts';
import { diffConfigs, dumpConfig, loadConfig, syntheticConfig } from '../src/config/settings.ts';

function fault(text: string, overrides: string[] = []): string {
  try {
    loadConfig(text, 'a.yaml', overrides);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('the config was accepted');
}

/** Time of the processor, not of the clock: other programs may keep this one waiting. */
function milliseconds(body: () => void): number {
  const start = process.cpuUsage();
  body();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const defaults = syntheticOptions.parse({});

describe('loadConfig', () => {
  test('an empty file and a comment give the defaults', () => {
    expect(loadConfig('', 'a.yaml', [])).toEqual(defaults);
    expect(loadConfig('# nothing\n', 'a.yaml', [])).toEqual(defaults);
  });

  test('values and overrides, the later winning', () => {
    const text = 'graph:\n  p: 0.1\n  temperature: {from: 1, to: 0.5, steps: 10}\n';
    const overrides = ['graph.p=0.3', 'graph.temperature.to=0.25', 'graph.beta=[2, 3]', 'walk.hard=false'];
    const config = syntheticConfig(loadConfig(text, 'a.yaml', [...overrides, 'graph.p=0.4', 'symbols=7']));
    expect(config.graph.p).toBe(0.4);
    expect(config.graph.temperature).toEqual({ from: 1, to: 0.25, steps: 10, shape: 'exponential' });
    expect(config.graph.beta).toEqual([2, 3]);
    expect(config.walk.hard).toBe(false);
    expect(config.symbols).toBe(7);
  });

  test('an override makes the mapping it needs', () => {
    const overrides = ['graph.temperature.from=1', 'graph.temperature.to=0.5', 'graph.temperature.steps=5'];
    const config = syntheticConfig(loadConfig('graph: {temperature: 1}', 'a.yaml', overrides));
    expect(config.graph.temperature).toMatchObject({ from: 1, to: 0.5, steps: 5 });
  });

  test.each([
    [
      'graph:\n  postrior: inner',
      'a.yaml: unknown key graph.postrior, did you mean graph.posterior? (line 2)',
    ],
    ['rate: 1', 'a.yaml: unknown key rate, did you mean training.rate? (line 1)'],
    [
      'graph: {self_loops: true}',
      'a.yaml: unknown key graph.self_loops, did you mean graph.selfLoops? (line 1)',
    ],
    [
      'walk: {zzzzzz: 1}',
      /^a\.yaml: unknown key walk\.zzzzzz, expected one of prior, posterior, process, form/,
    ],
    ['\n\ngraph:\n  p: 1', 'a.yaml: graph.p: expected a number above 0 and below 1, got 1 (line 4)'],
    ['seed: 1.5', 'a.yaml: seed: expected a whole number of at least 0, got 1.5 (line 1)'],
    ['training: {steps: 0}', 'a.yaml: training.steps: expected a whole number above 0, got 0 (line 1)'],
    ['walk: {hard: "yes"}', 'a.yaml: walk.hard: expected true or false, got "yes" (line 1)'],
    ['walk: {form: papr}', 'a.yaml: walk.form: expected one of paper, symmetric, got "papr" (line 1)'],
    [
      'model: gpt',
      'a.yaml: model: expected one of synthetic, language, reasoning, optimus, ivae, vq, got "gpt" (line 1)',
    ],
    ['seed: .nan', 'a.yaml: seed: expected a whole number of at least 0, got NaN (line 1)'],
    ['encoder:', /^a\.yaml: encoder: expected a mapping of width, .*, got nothing \(line 1\)$/],
    [
      'graph: {temperature: hot}',
      'a.yaml: graph.temperature: expected a number above 0 or a mapping of from, to, steps, shape, got "hot" (line 1)',
    ],
    [
      'graph: {temperature: -1}',
      'a.yaml: graph.temperature: expected a number above 0 or a mapping of from, to, steps, shape, got -1 (line 1)',
    ],
    [
      'graph: {beta: [1]}',
      'a.yaml: graph.beta: expected a list of 2 (a number above 0; a number above 0), got [1] (line 1)',
    ],
    ['graph: {beta: [1, -1]}', 'a.yaml: graph.beta.1: expected a number above 0, got -1 (line 1)'],
    ['seed: 1\nseed: 2', 'a.yaml: seed is given twice, expected once (line 2)'],
    ['graph:\n  p: 0.1\n  "p": 0.2', 'a.yaml: graph.p is given twice, expected once (line 3)'],
    ['- 1\n- 2', 'a.yaml: expected "key: value" lines, got [1,2]'],
    ['__proto__: {a: 1}', /^a\.yaml: unknown key __proto__/],
    ['seed: !secret 1', /^a\.yaml: line 1: Unresolved tag: !secret$/],
    ['seed: [1', /^a\.yaml: line 1: /],
  ])('%j', (text, message) => {
    if (typeof message === 'string') expect(fault(text)).toBe(message);
    else expect(fault(text)).toMatch(message);
  });

  test('all faults at once, one line each under a heading', () => {
    const text = 'seed: -1\ngraph:\n  postrior: x\n  temperature: {from: 1, too: 2, steps: 3}\nseed: -2\n';
    expect(fault(text, ['training.rate=0', 'walk.hrad=true', 'nothing'])).toBe(
      [
        'a.yaml has 8 faults:',
        '  seed is given twice, expected once (line 5)',
        '  unknown key walk.hrad, did you mean walk.hard? (--set)',
        '  --set "nothing": expected key=value, for example training.rate=0.01',
        '  seed: expected a whole number of at least 0, got -2 (line 5)',
        '  graph.temperature.to: expected a number above 0, got nothing (line 4)',
        '  unknown key graph.temperature.too, did you mean graph.temperature.to? (line 4)',
        '  unknown key graph.postrior, did you mean graph.posterior? (line 3)',
        '  training.rate: expected a number above 0, got 0 (--set)',
      ].join('\n'),
    );
  });

  test('an override cannot reach the prototype of objects', () => {
    expect(fault('', ['__proto__.seed=1'])).toMatch(/unknown key __proto__/);
    expect(fault('', ['graph.constructor.x=1'])).toMatch(/unknown key graph\.constructor/);
    expect(({} as Record<string, unknown>).seed).toBeUndefined();
  });

  test('control characters of the file do not reach the terminal', () => {
    expect(fault('"\\e[31mred": 1')).not.toContain('\x1b');
    expect(fault('walk: {form: "\\e[31m"}')).not.toContain('\x1b');
  });
});

describe('hostile YAML, within 100 ms each', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < 12; i++) {
    const from = String.fromCharCode(96 + i);
    bomb.push(`${String.fromCharCode(97 + i)}: &${String.fromCharCode(97 + i)} [${`*${from},`.repeat(9)}]`);
  }
  const cases: [string, string, RegExp][] = [
    ['alias bomb', bomb.join('\n'), /aliases/],
    ['alias within itself', 'a: &a [*a]', /a\.yaml/],
    ['more than a megabyte', '#'.repeat(1_000_001), /at most 1 MB, got 1\.0 MB/],
  ];
  test.each(cases)('%s', (_, text, message) => {
    // The best of three, since other tests share the machine.
    const times = [1, 2, 3].map(() => milliseconds(() => expect(fault(text)).toMatch(message)));
    expect(Math.min(...times)).toBeLessThan(100);
  });

  test.each([
    ['deep lists', '['.repeat(50_000)],
    ['deep mappings', `${'{a: '.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['deep block lists', '- '.repeat(2_000)],
    ['many unknown keys', Array.from({ length: 20_000 }, (_, i) => `key${i}: 1`).join('\n')],
  ])('%s end with a message in bounded time', (_, text) => {
    expect(milliseconds(() => expect(fault(text)).toMatch(/a\.yaml/))).toBeLessThan(5000);
  });
});

test('any text gives a config or a UserError', () => {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '\n',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '!',
    '"',
    "'",
    '|',
    '#',
    'graph',
    'p',
    '0.5',
    '  ',
    '\t',
    '<<',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((list) => list.join('')),
      ),
      (text) => {
        try {
          syntheticOptions.parse(loadConfig(text, 'a.yaml', []));
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('dumpConfig reads back unchanged', () => {
  const config = loadConfig('symbols: 5\ngraph: {temperature: {from: 1, to: 1e-7, steps: 9}}', 'a.yaml', []);
  expect(loadConfig(dumpConfig(config), 'b.yaml', [])).toEqual(config);
});

test('diffConfigs names each setting that differs', () => {
  const a = loadConfig('', 'a', []);
  const b = loadConfig('', 'b', [
    'training.rate=0.01',
    'symbols=5',
    'graph.beta=[1, 2]',
    'walk.form=symmetric',
  ]);
  expect(diffConfigs(a, a)).toEqual([]);
  expect(diffConfigs(a, b)).toEqual([
    'graph.beta: [1,1] → [1,2]',
    'walk.form: paper → symmetric',
    'training.rate: 0.001 → 0.01',
    'symbols: not set → 5',
  ]);
});
