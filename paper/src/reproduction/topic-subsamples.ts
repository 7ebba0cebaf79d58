import { termsOfRows } from '@hidden-schema/studies/measures/document-terms';
import { type SubsampleFit, subsampleStability } from '@hidden-schema/studies/measures/subsample-stability';
import { firstSymbols } from '@hidden-schema/studies/measures/symbol-uses';
import { sampledRows } from '@hidden-schema/studies/symbols/judge';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';
import {
  type ComparedModel,
  fits,
  rankedWords,
  type TopicFitOptions,
  type TopicInputs,
} from './topic-fits.ts';

/** Share of the texts that a subsample has. */
const share = 0.8;

/** Every model fitted to random subsamples of the texts with one seed, and how far the fits agree. */
export async function subsampledModels(
  inputs: TopicInputs,
  options: TopicFitOptions,
  subsamples: number,
): Promise<Map<ComparedModel, Record<'subsample_nmi' | 'subsample_ari' | 'subsample_words', number>>> {
  const found = new Map<ComparedModel, SubsampleFit[]>();
  for (let sample = 0; sample < subsamples; sample++) {
    // Seed 0 is that of the judge's sample.
    const rows = sampledRows(inputs.texts.length, Math.floor(share * inputs.texts.length), sample + 1);
    const some = inputsOfRows(inputs, rows);
    try {
      for await (const [model, fitted] of fits(some, options, 0)) {
        const [[, words] = []] = rankedWords(fitted, some.matrix, {
          symbols: fitted.topics ?? options.symbols,
        });
        const fit = { rows, symbols: firstSymbols(fitted.uses), words: words ?? [] };
        found.set(model, [...(found.get(model) ?? []), fit]);
      }
    } finally {
      some.vectors.free();
    }
  }
  return new Map(
    [...found].flatMap(([model, all]) => {
      const stable = subsampleStability(all);
      if (!stable) return [];
      const { nmi, ari, words } = stable;
      return [[model, { subsample_nmi: nmi, subsample_ari: ari, subsample_words: words }] as const];
    }),
  );
}

function inputsOfRows({ texts, tokens, vectors, matrix }: TopicInputs, rows: Int32Array): TopicInputs {
  const chosen = Array.from(rows);
  return {
    texts: chosen.map((row) => texts[row]!),
    tokens: chosen.map((row) => tokens[row]!),
    vectors: scope(() => {
      const index = Tensor.fromArray(BigInt64Array.from(chosen, BigInt), [chosen.length]);
      return vectors.indexSelect(0, index);
    }),
    matrix: termsOfRows(matrix, rows),
  };
}
