import type { LanguageRun } from '@hidden-schema/hsn';
import { z } from 'zod';
import { analysis } from './analysis.ts';
import { drawing, drawingFlags, temperature, topP, writingOf } from './writing.ts';

export const interpolate = analysis({
  name: 'interpolate',
  summary: 'the steps between two sentences',
  description: 'Go from one sentence to another over the graph, and write each step.',
  needs: ['decoder'],
  options: z.strictObject({
    from: z.string().describe('a sentence'),
    to: z.string().describe('another one'),
    variant: z
      .enum(['window', 'nodes'])
      .default('window')
      .describe("the paper's sliding window, or the authors' way symbol by symbol"),
    steps: z
      .int()
      .min(1)
      .default(4)
      .describe('of the way symbol by symbol, and for runs without walks: parts of the way'),
    threshold: z.number().positive().max(1).default(0.5).describe("least probability of the graph's links"),
    temperature: temperature.default(0).describe('0 takes the best token, more draws'),
    topP: topP.optional().describe('only the best tokens that together have this probability'),
    ...drawing,
  }),
  flags: {
    ...drawingFlags,
    from: { argument: '<first>' },
    to: { argument: '<second>' },
    variant: { value: 'name' },
    threshold: { value: 'p', takes: 'a probability above 0 and up to 1' },
  },
  files: true,
  run: async ({ run, writing }, { from, to, variant, steps, threshold, ...asked }) => {
    const { interpolateTexts } = await import('./interpolate-texts.ts');
    const write = writingOf(asked, writing);
    return interpolateTexts(run as LanguageRun, from, to, { variant, steps, threshold, write });
  },
  tables: async (found, { run }) => {
    const { UserError } = await import('@hidden-schema/base');
    const { interpolationSheet } = await import('./sheets.ts');
    const { symbolNames, symbolTitle } = await import('../symbols/names.ts');
    const { path, steps, unreachable } = found;
    if (unreachable !== null) throw new UserError(unreachable);
    const names = symbolNames(run.run);
    const marked = steps.some(({ onGraph }) => !onGraph) ? ' * has a move without a link.' : '';
    const way = path?.map((symbol) => symbolTitle(symbol, names)).join(' → ');
    return {
      name: 'interpolation',
      sheets: [interpolationSheet(found, names)],
      text: way === undefined ? marked.trim() : `path: ${way}.${marked}`,
    };
  },
  examples: [
    ['hsn interpolate run "the food was terrible" "we loved the music"', ''],
    ['hsn interpolate run "the food was terrible" "we loved the music" --threshold 0.2 --json', ''],
    ['hsn interpolate run "the food was terrible" "we loved the music" --nodewise --steps 6', ''],
  ],
  notes: `The paper's schema interpolation: a window of the walk's length slides along the first walk, the shortest path on the
graph to the beginning of the second, and the second walk; each step is decoded. --nodewise (--variant nodes) is what the authors' program
does instead, a path of its own for each place of the walk; steps that do not follow links are marked with *. Runs of optimus, ivae and vq go straight from one latent to the other.`,
});
