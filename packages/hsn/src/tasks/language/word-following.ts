import type { TextCorpus, TokenStore } from '@hidden-schema/text';
import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { visitBlocks } from '../../discovery/blocks.ts';
import { type Discovered, dictionaryOn } from '../../discovery/encode.ts';
import { inferLinks } from '../../discovery/links.ts';
import { mostAtOnce, type PointSource } from '../../discovery/point-source.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import { WalkCounts } from '../../discovery/walk-counts.ts';
import { WordSums } from '../../discovery/word-directions.ts';
import { freeWalks } from '../../discovery/word-steps.ts';
import type { Replicas } from '../../train/replicas.ts';

/** Training texts as points, and their tokens. */
interface Trained {
  corpus: Pick<TextCorpus, 'store' | 'splits'>;
  points: PointSource;
  replicas: Replicas;
}

/**
 * Lets walks follow words: the encoder is given where words stand among the training texts, and the graph is set anew
 * from the walks that they make, on which every step is free, but to stay where walks never do.
 */
export function followWords(
  encoder: PursuitEncoder,
  discovered: Discovered,
  trained: Trained,
): { linkProbabilities: Tensor; counts: WalkCounts } {
  const { points, replicas } = trained;
  placeDirections(encoder, trained);
  const { options, symbols } = discovered;
  const counts = new WalkCounts(options);
  noGrad(() =>
    scope(() => {
      const dictionary = dictionaryOn(discovered);
      const begins = (dictionary.starts ?? symbols).transpose(0, 1);
      eachBlock(trained, (block, tokens) => {
        const columns = Array.from(tokens(), (text) => encoder.words!.columns(text));
        const later = encoder.steps!.explained({ columns, points: block }, dictionary, options.length - 1);
        counts.add(freeWalks([block.matmul(begins), ...later], options.stays).toNumbers());
      });
    }),
  );
  counts.share(replicas);
  const texts = points.count;
  const links = noGrad(() => scope(() => inferLinks(counts.travelled(texts), { ...options, texts }).keep()));
  replicas.broadcast([links]);
  return { linkProbabilities: links, counts };
}

/** This process's texts block by block: their points, and their tokens. */
function eachBlock(
  { corpus: { store, splits }, points }: Trained,
  visit: (block: Tensor, tokens: () => Iterable<ArrayLike<number>>) => void,
): void {
  const blocks = visitBlocks(points, mostAtOnce, (block, first) =>
    visit(block, () => tokensOf(store, splits.train.subarray(first, first + block.dim(0)))),
  );
  for (const _ of blocks);
}

/** The encoder's tokens of some texts, one after the other. */
function* tokensOf(store: TokenStore, rows: Iterable<number>): Generator<Int32Array> {
  for (const row of rows) yield store.ids('encoder', store.row(row));
}

/** Gives the encoder where words stand among the texts. */
function placeDirections(encoder: PursuitEncoder, trained: Trained): void {
  const { points, replicas } = trained;
  const sums = new WordSums({ pieces: encoder.words!.pieces.dim(0), width: points.width });
  try {
    eachBlock(trained, (block, tokens) => sums.add(block, encoder.words!.counts(tokens())));
    const found = sums.directions(replicas);
    // Those of rank 0 in all processes: processors of two kinds may round differently.
    replicas.broadcast([found.directions, found.telling]);
    encoder.placeWords(found);
    for (const tensor of [found.directions, found.telling]) tensor.free();
  } finally {
    sums.free();
  }
}
