import { padded } from '@hidden-schema/text';
import { Generator, noGrad, randn, scope, Tensor, tensor } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { unitRows } from '../src/discovery/dictionary.ts';
import { PursuitEncoder } from '../src/discovery/pursuit-encoder.ts';
import type { GraphPosterior } from '../src/graph/posterior.ts';
import type { Symbols } from '../src/symbols/symbols.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

/** Walks of 24 texts as a run read them whose walks never stay: its graph has no links to itself. */
export function oldWalks(follow: 'rest' | 'words'): { walks: string; probability: number; weights: number } {
  return scope(() =>
    noGrad(() => {
      const [texts, K, width, pieces] = [24, 9, 12, 6];
      const generator = new Generator(5);
      const sizes = { vocabulary: 16, width, layers: 1, heads: 1, hidden: 8, positions: 16, dropout: 0 };
      const encoder = new PursuitEncoder(new TransformerText(sizes, new Generator(1)), {
        ...{ length: 5, pieces, dimensions: 0, sharpness: 60, fade: 0.8, follow },
      });
      const symbols = unitRows(randn([K, width], generator));
      const draws = randn([K, K], generator);
      const both = draws.add(draws.transpose(0, 1)).toNumbers();
      const links = tensor(
        Array.from({ length: K }, (_, j) =>
          Array.from({ length: K }, (_, k) => (j === k ? 0 : both[j * K + k]! > -0.4 ? 0.9 : 0.2)),
        ),
      );
      const none = (...shape: number[]) => Tensor.fromArray(new Float32Array(0), shape);
      const space = { rarity: new Float32Array(pieces), directions: none(pieces, 0) };
      encoder.place(
        { vectors: { mean: encoder.vectorMean, scale: 1 }, words: { mean: none(0), scale: 1, space } },
        Int32Array.from({ length: pieces }, (_, v) => 3 + v),
      );
      const directions = unitRows(randn([pieces, width], generator));
      encoder.placeWords({ directions, telling: tensor([1, 1, 0, 1, 1, 1]) });
      encoder.attach(
        { rows: () => symbols } as unknown as Symbols,
        { links: () => ({ matrix: () => links }) } as unknown as GraphPosterior,
      );
      const ids = Array.from({ length: texts }, (_, n) =>
        Int32Array.from({ length: 2 + (n % 5) }, (_, i) => 1 + ((7 * n + 3 * i) % 9)),
      );
      const points = unitRows(randn([texts, width], generator));
      const batch = { encoder: padded(ids, { pad: 0 }), points };
      const best = WalkDistribution.fromScores(new WalkableGraph(links), encoder.scores(batch)).best();
      const places = Tensor.fromArray(BigInt64Array.from(best.flatMap(({ walk }) => walk.map(BigInt))), [
        texts,
        5,
      ]);
      return {
        walks: best.map(({ walk }) => walk.join('')).join(' '),
        probability: best.reduce((sum, one) => sum + one.probabilities.reduce((p, q) => p * q), 0) / texts,
        weights: encoder.weights(batch, places).mean().item(),
      };
    }),
  );
}
