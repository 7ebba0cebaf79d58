import type { LanguageRun, SyntheticRun, WalkPosterior } from '@hidden-schema/hsn';
import { padded } from '@hidden-schema/text/text-batches';
import { stack, Tensor, withoutGrad } from '@hidden-schema/torch';
import type { Answer } from '../shared/api.ts';
import { Fault } from './fault.ts';

// Shapes: L steps, K symbols.

type Placed = { symbol: number; probability: number };

/** A text as the encoder reads it. */
export interface CloseReading extends Omit<Answer<'reading'>, 'step' | 'walk'> {
  walk: { steps: (Placed & { alternatives: Placed[] })[]; logProbability: number } | null;
  /** Whether each step of the walk stands for a token. */
  paired: boolean;
}

/** Reads one text, with so many other symbols that could stand at each step. */
export type CloseReader = (text: string, alternatives: number) => Promise<CloseReading>;

/** Reads sentences of a synthetic language: tokens with spaces between, as many as a walk has steps. */
export function tokenReader({ model, corpus }: SyntheticRun): CloseReader {
  const numbers = new Map(corpus.vocabulary.map((token, number) => [token, number]));
  const paired = model.config.encoder.readout === 'position';
  return async (text, alternatives) => {
    const words = text.split(/\s+/u).filter((word) => word !== '');
    const tokens = words.map((word) => ({ text: word, known: numbers.has(word) }));
    const unknown = [...new Set(words.filter((word) => !numbers.has(word)))];
    const problem = problemOf(words.length, unknown, corpus.length);
    const read = { tokens, unknown, problem, cut: false, paired };
    if (problem !== null) return { ...read, walk: null };
    const ids = Int32Array.from(words, (word) => numbers.get(word)!);
    model.train(false);
    const walk = withoutGrad(() =>
      closely(model.encode({ tokens: Tensor.fromArray(ids, [1, ids.length]) }), alternatives),
    );
    return { ...read, walk };
  };
}

/** Reads texts of any length; the encoder's tokenizer knows every letter. */
export function textReader({ texts }: LanguageRun): CloseReader {
  const { model, tokenizers, frames, longestRead } = texts;
  return async (text, alternatives) => {
    if (text.trim() === '') throw new Fault(400, 'bad_request', 'there is no sentence to read');
    const options = { literal: true, longest: longestRead };
    const [encoded] = await tokenizers.encoder.encodeBatch([text], { ...options, specials: true });
    const [plain] = await tokenizers.encoder.encodeBatch([text], options);
    const pieces = await Promise.all(Array.from(plain!.ids, (id) => tokenizers.encoder.decode([id])));
    model.train(false);
    const walk = withoutGrad(() =>
      closely(texts.posterior({ encoder: padded([encoded!.ids], frames.encoder) }), alternatives),
    );
    const tokens = pieces.map((piece) => ({ text: piece, known: true }));
    return { tokens, unknown: [], problem: null, cut: encoded!.lost > 0, walk, paired: false };
  };
}

/** The most probable walk of one sentence; at each step how probable its symbol is, and which others could stand there. */
function closely(posterior: WalkPosterior, alternatives: number): CloseReading['walk'] {
  const { walk, probabilities } = posterior.best()[0]!;
  const all = stack(posterior.marginals(), 1); // [1, L, K]
  const K = all.dim(2);
  const marginals = all.toNumbers();
  const ranked = all.topk(Math.min(K, alternatives + 1)).indices.toNumbers(); // [1, L, shown]
  const shown = ranked.length / walk.length;
  const at = (i: number, symbol: number) => ({ symbol, probability: clamp(marginals[i * K + symbol]!) });
  const steps = walk.map((symbol, i) => {
    const others = ranked.slice(i * shown, (i + 1) * shown).filter((other) => other !== symbol);
    return { ...at(i, symbol), alternatives: others.slice(0, alternatives).map((other) => at(i, other)) };
  });
  const logProbability = probabilities.reduce((sum, p) => sum + Math.log(p), 0);
  return { steps, logProbability };
}

function problemOf(words: number, unknown: readonly string[], length: number): string | null {
  const some = unknown.slice(0, 5).map((token) => `“${token}”`);
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : '';
  const faults = [
    ...(words === length ? [] : [`This run reads sentences of ${length} tokens; this one has ${words}.`]),
    ...(unknown.length === 0 ? [] : [`Not in the vocabulary: ${some.join(', ')}${more}.`]),
  ];
  return faults.length === 0 ? null : faults.join(' ');
}

/** Sums of float32 may pass 1 by a rounding. */
export const clamp = (p: number): number => Math.min(1, Math.max(0, p));
