import fs from 'node:fs';
import { evaluateSynthetic, SyntheticTask, sweepUntilSettled } from '@hidden-schema/hsn';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test } from 'vitest';
import { drawRecovery, mostLikelyGraph, recoveryText, walkExamples } from '../src/drawing/showcase.ts';

const folder = temporaryFolder('showcase');
afterAll(folder.remove);
const corpus = tinyCorpus(folder.path('corpus'), { sentences: 2000 });
const task = new SyntheticTask(tinyConfig(), corpus);
afterAll(() => task.trainer.free());
sweepUntilSettled(task, 100);

describe('what was found', () => {
  test('is drawn beside the truth', () => {
    expect(mostLikelyGraph(task.model)).toEqual(corpus.truth);
    const files = drawRecovery(task.model, corpus, folder.path('deep', 'figures'));
    expect(files).toEqual([
      folder.path('deep', 'figures', 'recovery.svg'),
      folder.path('deep', 'figures', 'recovery.png'),
    ]);
    const svg = fs.readFileSync(files[0]!, 'utf8');
    expect(svg).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
    expect(svg).toContain('true graph');
    expect(fs.readFileSync(files[1]!).subarray(1, 4).toString()).toBe('PNG');
    const { truth: _, ...blind } = corpus;
    expect(drawRecovery(task.model, blind, folder.path('none'))).toEqual([]);
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });

  test('stands beside the true figures, with dashes where they are not known', () => {
    const lines = recoveryText(evaluateSynthetic(task.model, corpus)).split('\n');
    expect(lines[0]).toMatch(/recovered +true$/);
    expect(lines.find((line) => line.startsWith('links'))).toMatch(/12\.\d +12$/);
    expect(lines.find((line) => line.startsWith('ROC AUC'))).toMatch(/1\.0000 +1\.0000$/);
    const { truth: _, ...blind } = corpus;
    expect(recoveryText(evaluateSynthetic(task.model, blind))).toMatch(/ROC AUC of links +–/);
  });

  test('walks stand under their sentences', () => {
    const text = walkExamples(task.model, corpus, 2);
    const { test: split } = corpus.splits;
    const words = Array.from(split.tokens.subarray(0, 5), (token) => corpus.vocabulary[token]!);
    const lines = text.split('\n');
    expect(lines[0]!.trim().split(/\s+/)).toEqual(['sentence', ...words]);
    expect(lines[1]!.trim().split(/\s+/)).toEqual([
      'true',
      'walk',
      ...Array.from(split.walks!.subarray(0, 5), String),
    ]);
    expect(lines[2]).toMatch(/^ {2}read as( +\d){5}$/);
    expect(text.match(/sentence/g)).toHaveLength(2);
  });
});
