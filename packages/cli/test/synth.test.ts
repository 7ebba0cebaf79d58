import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import * as corpus from '@hidden-schema/hsn';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { register } from '../src/synth.ts';

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-synth-'));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Runs the verb as the command line would; what it prints. */
async function hsn(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => printed.push(String(text)) > 0);
  const program = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: (text) => printed.push(text) });
  register(program);
  // exitOverride is not inherited by commands that exist already.
  for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput());
  try {
    await program.parseAsync(['synth', ...args], { from: 'user' }).catch((error: { code?: string }) => {
      if (error.code !== 'commander.helpDisplayed') throw error;
    });
  } finally {
    stdout.mockRestore();
  }
  return printed.join('\n');
}

const small = ['--nodes', '20', '--tokens', '60', '--length', '6', '--sentences', '100'];

describe('hsn synth', () => {
  test('writes a corpus that reads back, and says what it wrote', async () => {
    const out = path.join(folder, 'plain');
    const text = await hsn(...small, '--seed', '4', '--out', out);
    const read = corpus.readSyntheticCorpus(out);
    expect(text).toContain('graph      barabasi (attach 3): 20 nodes, 51 edges');
    expect(text).toContain(`tokens     60, of which ${read.vocabulary.length} in bags of 2`);
    expect(text).toContain('sentences  70 train, 20 valid, 10 test, 6 tokens each');
    expect(text).toContain(`written to ${out}`);
    expect([read.splits.train.count, read.length, read.bags?.nodes]).toEqual([70, 6, 20]);
    expect(read.generator?.settings.seed).toBe(4);
  });

  test('passes every graph its own parameters, and names reconnected nodes', async () => {
    const run = (name: string, ...args: string[]) =>
      hsn(...small, '--graph', name, ...args, '--out', path.join(folder, name));
    expect(await run('watts', '--neighbours', '4', '--rewire', '0.2')).toContain(
      'watts (neighbours 4, rewire 0.2): 20 nodes, 40 edges',
    );
    expect(await run('blocks', '--blocks', '2', '--inside', '1', '--outside', '0')).toContain(
      '20 nodes, 90 edges',
    );
    const lone = await run('erdos', '--probability', '0', '--disjoint', '--split', '8,1,1');
    expect(lone).toContain('20 isolated nodes were linked to a random other');
    expect(lone).toContain('0 shared between nodes');
    expect(lone).toContain('80 train, 10 valid, 10 test');
  });

  test('reports all faults at once and writes nothing', async () => {
    const out = path.join(folder, 'none');
    const args = [
      '--graph',
      'erdos',
      '--nodes',
      'ten',
      '--tokens',
      '0',
      '--length',
      '1',
      '--attach',
      '3',
      '--probability',
      '2',
    ];
    const fault = await hsn(...args, '--split', '70,x', '--seed', '-1', '--out', out).catch(
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(UserError);
    expect((fault as Error).message.split('\n')).toEqual([
      '7 faults:',
      '  --nodes: expected a number, got "ten"',
      '  --attach: belongs to the barabasi graph, but the graph is erdos; leave it out',
      '  --probability: expected a number from 0 to 1, got 2',
      '  --tokens: expected a whole number from 1 to 17576, got 0',
      '  --length: expected a whole number from 2 to 100000, got 1',
      '  --seed: expected a whole number from 0 to 9007199254740991, got -1',
      '  --split: expected three shares for train, valid and test with train above 0, such as 70,20,10, got 70,NaN',
    ]);
    expect(fs.existsSync(out)).toBe(false);
  });

  test.each([
    [['--graph', 'ring'], '--graph: expected one of barabasi, erdos, watts, blocks, got "ring"'],
    [
      ['--disjoint', '--tokens', '30'],
      '--disjoint: 20 nodes with 2 tokens each need 40 tokens, got 30; raise tokens or let bags share them',
    ],
    [
      ['--tokens', '6'],
      '--tokens: 6 tokens make only 15 different bags of 2, fewer than the 20 nodes; raise tokens',
    ],
    [['--bag', '61'], '--bag: a bag of 61 needs at least as many tokens, got 60'],
    [['--graph', 'watts', '--neighbours', '5'], '--neighbours: expected an even number, got 5'],
    [['--attach', '20'], '--attach: expected a whole number from 1 to 19 for 20 nodes, got 20'],
  ])('%j is refused in one line', async (args, message) => {
    await expect(hsn(...small, ...args, '--out', path.join(folder, 'bad'))).rejects.toThrow(
      new UserError(message),
    );
  });

  test('keeps what is there unless forced, and never removes foreign files', async () => {
    const out = path.join(folder, 'kept');
    await hsn(...small, '--out', out);
    const before = fs.readFileSync(path.join(out, 'train.txt'), 'utf8');
    await expect(hsn(...small, '--seed', '2', '--out', out)).rejects.toThrow(
      /is not empty; choose another folder, or --force/,
    );
    expect(fs.readFileSync(path.join(out, 'train.txt'), 'utf8')).toBe(before);
    await hsn(...small, '--seed', '2', '--force', '--out', out);
    expect(fs.readFileSync(path.join(out, 'train.txt'), 'utf8')).not.toBe(before);
    fs.writeFileSync(path.join(out, 'thesis.md'), 'mine');
    await expect(hsn(...small, '--force', '--out', out)).rejects.toThrow(
      /holds more than a corpus \(thesis\.md\)/,
    );
    expect(fs.readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('help shows examples; --out is required', async () => {
    const help = await hsn('--help');
    for (const name of Object.keys(corpus.GRAPH_DEFAULTS)) expect(help).toContain(`--${name} <`);
    expect(help).toContain('$ hsn synth --graph erdos');
    const defaults = { ...corpus.SYNTHETIC_DEFAULTS, ...corpus.GRAPH_DEFAULTS };
    for (const [, name, value] of help.matchAll(/--(\w+) <.*\(default:\s+(\S+)\)/g)) {
      expect([name, value]).toEqual([name, String(defaults[name as keyof typeof defaults])]);
    }
    await expect(hsn(...small)).rejects.toThrow("required option '--out <dir>' not specified");
  });

  test('readable English with labels', async () => {
    const out = path.join(folder, 'words');
    const text = await hsn('--words', '--sentences', '200', '--length', '3', '--seed', '4', '--out', out);
    expect(text).toMatch(/^graph {6}blocks \(blocks 6, inside 0\.7, outside 0\.02\): 36 nodes, \d+ edges$/m);
    expect(text).toContain('phrases    216 on 36 topics');
    expect(text).toContain('sentences  160 train, 20 valid, 20 test, 3 phrases each');
    expect(text).toMatch(/^labels {5}arts \d+, home \d+, nature \d+, sport \d+, travel \d+, work \d+$/m);
    const [first] = fs.readFileSync(path.join(out, 'train.tsv'), 'utf8').split('\n');
    expect(first).toMatch(/^(arts|home|nature|sport|travel|work)\t[A-Z].* and .*\.$/);
    const wrong = hsn('--words', '--tokens', '5', '--nodes', '40', '--seed', 'x', '--out', out);
    await expect(wrong).rejects.toThrow(UserError);
    await expect(wrong).rejects.toThrow(/--tokens: belongs to random tokens, not to --words; leave it out/);
    await expect(wrong).rejects.toThrow(/--nodes: there are topics for 36 nodes, got 40/);
    await expect(wrong).rejects.toThrow(/--seed: expected a number, got "x"/);
  });
});
