// Symbols of a discovered run as two, and with those of more texts, before anything is written.
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { liveTensors, noGrad, scope } from '@hidden-schema/torch';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PursuitEncoder } from '../src/discovery/pursuit-encoder.ts';
import { Session } from '../src/run/session.ts';
import { type OpenedLanguage, openLanguage } from '../src/tasks/language/open.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { splitChange } from '../src/tasks/language/split.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { createLanguageRun } from '../src/tasks/language/text-record.ts';
import { textUpdate } from '../src/tasks/language/update.ts';

const folder = temporaryFolder('discovered-edits');
const K = 6;
const texts = plantedTexts().map((row) => row.join('\t'));
/** A subject that the run does not know. */
const sea = Array.from({ length: 30 }, (_, n) => {
  const words = 'harbour sailor anchor wave island lighthouse ferry tide'.split(' ');
  return `food\tthe ${[0, 1, 2, 3].map((i) => words[(n * 3 + i * (1 + (n % 2))) % 8]).join(' and ')} ${n}`;
});

async function discovered(name: string, stays: boolean): Promise<OpenedLanguage> {
  const config = tinyLanguage({
    symbols: K,
    encoder: { name: DEFAULT_ENCODER, walks: 'pursuit', longest: 32 },
    graph: { posterior: 'free', symbols: 'learnable', selfLoops: stays },
    walk: { range: 'none', stays },
    training: { steps: 2, evaluateEvery: 2 },
  });
  const prepared = await prepareLanguage(config, { input: folder.path('texts.tsv'), settings: {} });
  const run = createLanguageRun(folder.path(name), prepared);
  await new Session(run, new LanguageTask(prepared), { output: { write: () => true } }).train();
  run.close();
  prepared.close();
  return openLanguage(folder.path(name));
}

beforeAll(() => {
  folder.holdCache();
  writeTexts(folder.path('texts.tsv'), texts);
  writeTexts(folder.path('sea.tsv'), sea);
});
afterAll(folder.remove);

describe.each([true, false])('a run whose walks may stay: %s', (stays) => {
  let opened: OpenedLanguage;
  beforeAll(async () => {
    opened = await discovered(`run-${stays}`, stays);
  }, 600_000);
  afterAll(() => opened?.model.free());

  /** Which symbol most texts begin with. */
  const largest = async () => {
    const { walks } = await opened.texts.read(texts.map((text) => text.split('\t')[1]!));
    const counts = Array(K).fill(0);
    for (const { walk } of walks) counts[walk[0]!]++;
    return counts.indexOf(Math.max(...counts));
  };

  test('reads walks along links, and stays only where it may', async () => {
    const encoder = opened.model.encoder as PursuitEncoder;
    expect([encoder.starts?.shape[0], encoder.cutoffs?.shape]).toEqual(
      stays ? [K, [K]] : [undefined, undefined],
    );
    const links = scope(() => noGrad(() => opened.model.graph.links().matrix().toNumbers()));
    const { walks } = await opened.texts.read(texts.map((text) => text.split('\t')[1]!));
    let stayed = 0;
    for (const { walk } of walks)
      for (let i = 1; i < walk.length; i++) {
        if (walk[i] === walk[i - 1]) stayed++;
        expect(links[walk[i - 1]! * K + walk[i]!]).toBeGreaterThan(0.5);
      }
    if (stays) expect(stayed).toBeGreaterThan(0);
    else expect(stayed).toBe(0);
  });

  test('a symbol as two: their parts, links and cutoffs, and no tensor more each time', async () => {
    const symbol = await largest();
    const alive: number[] = [];
    for (let time = 0; time < 3; time++) {
      const change = await splitChange(opened, symbol);
      alive.push(liveTensors().tensors);
      expect(change.origins).toEqual([...Array.from({ length: K }, (_, k) => [k]), [symbol]]);
      expect(change.parts!.get(symbol)! + change.parts!.get(K)!).toBeCloseTo(1, 6);
      expect(change.links).toHaveLength((K + 1) ** 2);
      expect(Array.from({ length: K + 1 }, (_, k) => change.links![k * (K + 2)])).toEqual(
        Array(K + 1).fill(1),
      );
      expect(change.cutoffs?.length).toBe(stays ? K + 1 : undefined);
    }
    expect(alive[2]).toBe(alive[1]);
  });

  test('more texts: a theme of their own is a symbol, and no tensor more each time', async () => {
    const alive: number[] = [];
    for (let time = 0; time < 3; time++) {
      const { themes, kept, editing } = await textUpdate(opened, folder.path('sea.tsv'));
      alive.push(liveTensors().tensors);
      expect(themes.length).toBeGreaterThan(0);
      expect(kept).toBeGreaterThan(0.9);
      const J = K + themes.length;
      expect(editing.links).toHaveLength(J ** 2);
      expect(editing.cutoffs?.length).toBe(stays ? J : undefined);
    }
    expect(alive[2]).toBe(alive[1]);
  });
});
