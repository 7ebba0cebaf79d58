import { UserError } from '@hidden-schema/base';
import { beamSearch } from '@hidden-schema/transformers/beam-search';
import { tupleFrames } from './build.ts';
import { defaultTokens, type ObjectOptions, writeObjects } from './objects.ts';
import { type OpenedReasoning, promptTable } from './open.ts';

export interface CometOptions extends Pick<ObjectOptions, 'temperature' | 'seed'> {
  /** The best word after word, the best that a beam finds (unless given), or draws. */
  how?: 'greedy' | 'beam' | 'sample';
  /** Objects to find. */
  count?: number;
}

export interface CometCandidate {
  object: string;
  /** log p(o|s, r), its end included; of a beam over the number of tokens. */
  score: number;
}

/** Objects that COMET writes for an event and a relation, the best first, each once. */
export async function cometCandidates(
  opened: OpenedReasoning,
  event: string,
  relation: string,
  { how = 'beam', count = 5, temperature = 0, seed }: CometOptions,
): Promise<CometCandidate[]> {
  if (how === 'sample' && temperature === 0)
    throw new UserError('--search sample draws words: give a --temperature above 0');
  const { model, tokenizers } = opened;
  const prompt = (await promptTable(opened, [{ head: event, relation }])).prompt(0);
  const frame = tupleFrames(tokenizers).decoder;
  const tokenizer = tokenizers.decoder;
  if (how === 'beam') {
    const search = { prompts: [prompt], end: frame.end!, beams: count, maxNewTokens: defaultTokens };
    const [found] = beamSearch(model.decoder, search);
    return unique(
      await Promise.all(
        found!.map(async ({ tokens, score }) => ({
          object: (await tokenizer.decode(tokens, { specials: false })).trim(),
          score,
        })),
      ),
    );
  }
  const prompts = Array.from({ length: how === 'greedy' ? 1 : count }, () => ({ prompt }));
  const drawing = how === 'greedy' ? {} : { temperature, ...(seed === undefined ? {} : { seed }) };
  const written = await writeObjects(model, { tokenizer, frame }, prompts, drawing);
  return unique(written.map(({ text, logProb }) => ({ object: text, score: logProb })));
}

function unique(candidates: readonly CometCandidate[]): CometCandidate[] {
  const best = new Map<string, CometCandidate>();
  for (const one of [...candidates].sort((a, b) => b.score - a.score))
    if (!best.has(one.object)) best.set(one.object, one);
  return [...best.values()];
}
