import type { TextCorpus } from '@hidden-schema/text';
import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { visitBlocks } from '../../discovery/blocks.ts';
import type { Discovered } from '../../discovery/encode.ts';
import { linkProbabilities } from '../../discovery/links.ts';
import { mostAtOnce, type PointSource } from '../../discovery/point-source.ts';
import { gains } from '../../discovery/pursuit.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import { WalkCounts } from '../../discovery/walk-counts.ts';
import { WordSums } from '../../discovery/word-directions.ts';
import { freeWalks } from '../../discovery/word-steps.ts';
import type { Replicas } from '../../train/replicas.ts';
import { storedTokens } from './corpus-vectors.ts';

/** Training texts as points, and their tokens. */
interface Trained {
  corpus: Pick<TextCorpus, 'store' | 'splits'>;
  points: PointSource;
  replicas: Replicas;
}

/**
 * Lets walks follow words: the encoder is given where words stand among the training texts, and the graph is set anew
 * from the walks that they make, on which every step but to stay is free.
 */
export function followWords(
  encoder: PursuitEncoder,
  discovered: Discovered,
  { corpus: { store, splits }, points, replicas }: Trained,
): { linkProbabilities: Tensor; counts: Float64Array[] } {
  const tokens = (first: number, count: number) =>
    storedTokens(store, splits.train.subarray(first, first + count));
  const { width, count: texts } = points;
  const sums = new WordSums({ pieces: encoder.words!.pieces.dim(0), width });
  const read = (visit: (block: Tensor, first: number) => void) => {
    for (const _ of visitBlocks(points, mostAtOnce, visit));
  };
  try {
    read((block, first) => sums.add(block, encoder.words!.counts(tokens(first, block.dim(0)))));
    const found = sums.directions(replicas);
    // Those of rank 0 in all processes: processors of two kinds may round differently.
    replicas.broadcast([found.directions, found.telling]);
    encoder.placeWords(found);
    for (const tensor of [found.directions, found.telling]) tensor.free();
  } finally {
    sums.free();
  }
  const { options, symbols } = discovered;
  const counts = new WalkCounts(options);
  read((block, first) => {
    const whole = gains(block.matmul(symbols.transpose(0, 1)));
    const columns = Array.from(tokens(first, block.dim(0)), (text) => encoder.words!.columns(text));
    const later = encoder.steps!.explained({ columns, whole }, symbols, options.length - 1);
    counts.add(freeWalks([whole, ...later]).toNumbers());
  });
  counts.share(replicas);
  const links = noGrad(() =>
    scope(() => linkProbabilities(counts.travelled(texts), { ...options, texts }).keep()),
  );
  replicas.broadcast([links]);
  return { linkProbabilities: links, counts: counts.steps };
}
