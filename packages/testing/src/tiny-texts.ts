// Sentences small enough to train on in a second, and a language model for them.
import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { type LanguageConfig, languageConfigSchema } from '@hidden-schema/hsn';
import type { z } from 'zod';

const subjects = ['the cat', 'a dog', 'my friend', 'the waiter', 'this place', 'the food'];
const verbs = ['is', 'was', 'seems', 'looks'];
const moods = ['very good', 'terrible', 'quite slow', 'friendly', 'cheap', 'too salty'];
const good = new Set(['very good', 'friendly', 'cheap']);

/** Lines of label<TAB>sentence. */
export function tinySentences(count = 200): string[] {
  const random = new Random(5);
  const pick = (words: readonly string[]) => words[random.int(words.length)]!;
  return Array.from({ length: count }, () => {
    const mood = pick(moods);
    return `${good.has(mood) ? 'good' : 'bad'}\t${pick(subjects)} ${pick(verbs)} ${mood}`;
  });
}

export function writeTexts(file: string, lines: readonly string[] = tinySentences()): string {
  fs.writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

type Input = Omit<z.input<typeof languageConfigSchema>, 'model'>;

/** An encoder and a decoder from scratch, a few steps, an evaluation every 3. */
export function tinyLanguage(changes: Input = {}): LanguageConfig {
  const { graph, encoder, decoder, warmStart, training, ...rest } = changes;
  return languageConfigSchema.parse({
    model: 'language',
    symbols: 6,
    length: 3,
    ...rest,
    graph: { hidden: 8, ...graph },
    encoder: { name: 'transformer', width: 16, layers: 1, heads: 2, ...encoder },
    decoder: { width: 16, layers: 1, heads: 2, vocabularySize: 320, ...decoder },
    warmStart: { steps: 10, hold: 2, ...warmStart },
    training: { steps: 6, batch: 16, warmup: 1, logEvery: 1, evaluateEvery: 3, ...training },
  });
}

/** The same as `--set` arguments. */
export const tinyLanguageFlags: readonly string[] = [
  'graph.hidden=8',
  'encoder.name=transformer',
  'encoder.width=16',
  'encoder.layers=1',
  'encoder.heads=2',
  'decoder.width=16',
  'decoder.layers=1',
  'decoder.heads=2',
  'decoder.vocabularySize=320',
  'warmStart.steps=10',
  'warmStart.hold=2',
  'training.steps=6',
  'training.batch=16',
  'training.warmup=1',
  'training.logEvery=1',
  'training.evaluateEvery=3',
].flatMap((setting) => ['--set', setting]);
