import type { WritingOptions } from '@hidden-schema/hsn/tasks/language/texts';
import { z } from 'zod';

/** How a decoder draws texts; further options are those of an analysis. */
export const drawing = {
  topK: z.int().min(1).optional().describe('only the k best tokens'),
  repetitionPenalty: z
    .number()
    .positive()
    .optional()
    .describe('above 1, what was said already becomes less likely'),
  seed: z.int().min(0).optional().describe("draws the sentences (default: the run's)"),
  maxTokens: z.int().min(1).default(60).describe('tokens of a sentence, at most'),
};

/** Divides scores; its default is the analysis' own. */
export const temperature = z.number().min(0);
/** A part of the probability; its default, where there is one, is the analysis' own. */
export const topP = z.number().positive().max(1);

/** How the help and messages speak of these options. */
export const drawingFlags = {
  temperature: { value: 't', takes: 'a number from 0 (always the best token)' },
  topK: { value: 'k' },
  topP: { value: 'p', takes: 'a probability above 0 and up to 1' },
  repetitionPenalty: { value: 'x', takes: 'a number above 0' },
};

const names = ['temperature', 'topK', 'topP', 'repetitionPenalty', 'seed'] as const;

/** What was asked of the drawing, as decoders take it: options that are not given are left out. */
export function writingOf(
  asked: { [K in (typeof names)[number]]?: number | undefined } & { maxTokens: number },
  context: Pick<WritingOptions, 'signal' | 'onToken'>,
): WritingOptions {
  const known = names.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]]));
  return { maxTokens: asked.maxTokens, ...context, ...Object.fromEntries(known) };
}

/** Where lines are sentences, a sentence is a line. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');
