import { type Frame, idsTensor, padded } from '@hidden-schema/text/text-batches';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { Generator, noGrad, scope } from '@hidden-schema/torch';
import {
  type GenerationOptions,
  generateSync,
  type SamplingOptions,
} from '@hidden-schema/transformers/generation';
import { schemaOf } from '../language/network.ts';
import type { ReasoningNetwork } from './network.ts';
import type { TupleTokens } from './tokens.ts';

/** What an object is written from: start, s, r as tokens, and a walk unless it is COMET that writes. */
export interface ObjectPrompt {
  prompt: readonly number[];
  walk?: readonly number[];
}

export interface WrittenObject {
  text: string;
  /** log p(o|s, r, z), its end included. */
  logProb: number;
}

export interface ObjectOptions extends SamplingOptions {
  /** Tokens of an object, at most. */
  maxTokens?: number;
  seed?: number;
}

const atOnce = 64;
/** Tokens of an object at most, unless said. */
export const defaultTokens = 24;

/** Writes objects for (s, r) with walks, greedily unless told otherwise; answers in the order of the prompts. */
export async function writeObjects(
  model: ReasoningNetwork,
  { tokenizer, frame }: { tokenizer: Tokenizer; frame: Frame },
  prompts: readonly ObjectPrompt[],
  options: ObjectOptions = {},
): Promise<WrittenObject[]> {
  const { maxTokens = defaultTokens, seed = 1, ...sampling } = options;
  const generator = new Generator(seed);
  // Prompts of like length are read together.
  const order = [...prompts.keys()].sort((a, b) => prompts[a]!.prompt.length - prompts[b]!.prompt.length);
  const out = new Array<WrittenObject>(prompts.length);
  model.train(false);
  for (let first = 0; first < order.length; first += atOnce) {
    const places = order.slice(first, first + atOnce);
    const some = places.map((place) => prompts[place]!);
    const generation = { ...sampling, generator, end: frame.end!, maxNewTokens: maxTokens };
    const written = scope(() => noGrad(() => drafts(model, frame, some, generation)));
    for (const [i, place] of places.entries()) {
      const { tokens, logProb } = written[i]!;
      const text = (await tokenizer.decode(tokens, { specials: false })).trim();
      out[place] = { text, logProb };
    }
  }
  return out;
}

/** log p(o|s, r, z) of tuples as they stand, the object's end included; without walks log p(o|s, r). */
export function objectLogProbs(
  model: ReasoningNetwork,
  tokens: TupleTokens,
  rows: Int32Array,
  walks?: readonly (readonly number[])[],
): number[] {
  // Tuples of like length are read together.
  const order = Array.from(rows.keys()).sort((a, b) => tokens.length(rows[a]!) - tokens.length(rows[b]!));
  const out = new Array<number>(rows.length);
  model.train(false);
  for (let first = 0; first < order.length; first += atOnce) {
    const places = order.slice(first, first + atOnce);
    const { ids, prefixes } = tokens.decoder(Int32Array.from(places, (place) => rows[place]!));
    const nll = scope(() =>
      noGrad(() => {
        const schema =
          walks &&
          schemaOf(
            model,
            places.map((place) => walks[place]!),
          );
        return model.decoder
          .nll(idsTensor(ids), schema, [...ids.lengths], { prefix: prefixes })
          .perSentence.toNumbers();
      }),
    );
    for (const [i, place] of places.entries()) out[place] = -nll[i]!;
  }
  return out;
}

function drafts(
  model: ReasoningNetwork,
  frame: Frame,
  prompts: readonly ObjectPrompt[],
  generation: Omit<GenerationOptions, 'prompts' | 'schema'>,
) {
  const { decoder } = model;
  const walks = prompts.flatMap(({ walk }) => (walk ? [walk] : []));
  const schema = walks.length > 0 ? schemaOf(model, walks) : undefined;
  const generated = generateSync(decoder, {
    ...generation,
    prompts: prompts.map(({ prompt }) => prompt),
    ...(schema ? { schema } : {}),
  });
  // The frame's start is in the prompt already.
  const { begin: _, ...ending } = frame;
  const ids = padded(
    generated.map(({ tokens }, i) => Int32Array.from([...prompts[i]!.prompt, ...tokens])),
    ending,
  );
  const cut = Math.min(ids.width, decoder.maxPositions);
  const lengths = Array.from(ids.lengths, (length) => Math.min(length, cut));
  const prefix = prompts.map(({ prompt }) => prompt.length);
  const whole = idsTensor(ids).narrow(1, 0, cut);
  const { perSentence } = decoder.nll(whole, schema, lengths, { prefix });
  const nll = perSentence.toNumbers();
  return generated.map(({ tokens }, i) => ({ tokens, logProb: -nll[i]! }));
}
