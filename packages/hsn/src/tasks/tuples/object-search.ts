import { UserError } from '@hidden-schema/base';
import type { Frame, Tokenizer } from '@hidden-schema/text';
import { noGrad, scope } from '@hidden-schema/torch';
import { beamSearch } from '@hidden-schema/transformers/beam-search';
import { schemaOf } from '../language/network.ts';
import type { ReasoningNetwork } from './network.ts';
import { defaultTokens, type ObjectPrompt, type WrittenObject, writeObjects } from './objects.ts';

/** How several objects are looked for: the best token after token, the best of a beam by log p alone, or drawn ones. */
export interface ObjectSearch {
  how: 'greedy' | 'beam' | 'sample';
  /** Width of the beam, or draws; for greedy one. */
  count?: number;
  /** sample: only the best tokens that together have this probability. */
  topP?: number;
  seed?: number;
}

/** Prompts whose beams are sorted by length together. */
const beamsAtOnce = 4096;

/** Objects of each prompt, the most probable first; the same one may come several times. */
export async function searchObjects(
  model: ReasoningNetwork,
  writer: { tokenizer: Tokenizer; frame: Frame },
  prompts: readonly ObjectPrompt[],
  { how, count = 1, topP = 0.9, seed }: ObjectSearch,
): Promise<WrittenObject[][]> {
  if (!(Number.isInteger(count) && count >= 1) || (how === 'greedy' && count > 1))
    throw new UserError(`expected a whole number of objects from 1, for greedy 1, got ${count}`);
  if (how === 'beam') return beams(model, writer, prompts, count);
  const several = prompts.flatMap((prompt) => Array.from({ length: count }, () => prompt));
  const drawing = how === 'sample' ? { temperature: 1, topP } : {};
  const written = await writeObjects(model, writer, several, {
    ...drawing,
    ...(seed === undefined ? {} : { seed }),
  });
  return prompts.map((_, i) =>
    written.slice(i * count, (i + 1) * count).sort((a, b) => b.logProb - a.logProb),
  );
}

async function beams(
  model: ReasoningNetwork,
  { tokenizer, frame }: { tokenizer: Tokenizer; frame: Frame },
  prompts: readonly ObjectPrompt[],
  width: number,
): Promise<WrittenObject[][]> {
  const { decoder } = model;
  model.train(false);
  const out: WrittenObject[][] = [];
  for (let first = 0; first < prompts.length; first += beamsAtOnce) {
    const some = prompts.slice(first, first + beamsAtOnce);
    const walks = some.flatMap(({ walk }) => (walk ? [walk] : []));
    const found = scope(() =>
      noGrad(() =>
        beamSearch(decoder, {
          prompts: some.map(({ prompt }) => prompt),
          ...(walks.length > 0 ? { schema: schemaOf(model, walks) } : {}),
          end: frame.end!,
          maxNewTokens: defaultTokens,
          beams: width,
          lengthPenalty: 0,
        }),
      ),
    );
    for (const hypotheses of found) {
      const texts = hypotheses.map(async ({ tokens, logProb }) => ({
        text: (await tokenizer.decode(tokens, { specials: false })).trim(),
        logProb,
      }));
      out.push(await Promise.all(texts));
    }
  }
  return out;
}
