import { full, nn, noGrad, scope, stack, Tensor, zeros } from '@hidden-schema/torch';
import type { TextEncoder } from '@hidden-schema/transformers';
import { dictionaryOf, unitRows } from '../../discovery/dictionary.ts';
import { type PointSpace, toPoints } from '../../discovery/points.ts';
import { pursue } from '../../discovery/pursuit.ts';
import { TextReader } from '../../encoder/walk-queries.ts';
import type { GraphPosterior } from '../../graph/posterior.ts';
import type { Symbols } from '../../symbols/symbols.ts';
import { halfOf, type ReadTuples } from './encoder.ts';

// Shapes: B tuples, H steps of a half, K symbols, D width of the encoder.

/** Nats of a symbol that a given second half does not take. */
const unlikely = -1e4;
/** What a relation's vector weighs beside its event's: enough to turn a walk, too little to make it. */
const relationWeight = 0.5;

/** The space of one kind of points: what is taken off vectors, and what the rest is multiplied by. */
class VectorSpace extends nn.Module {
  readonly mean: Tensor; // [D]
  readonly scale: Tensor; // [1]

  constructor(width: number) {
    super();
    this.mean = zeros([width]).keep();
    this.scale = zeros([1]).keep();
  }

  place({ vectors }: PointSpace): void {
    noGrad(() =>
      scope(() => {
        this.mean.copy_(vectors.mean);
        this.scale.copy_(full([1], vectors.scale));
      }),
    );
  }

  points(vectors: Tensor): Tensor {
    return toPoints({ vectors: { mean: this.mean, scale: this.scale.item() } }, vectors);
  }
}

/**
 * h^enc of tuples with one dictionary for all steps: the first half pursues the point of (s, r), the second that of o,
 * from where the first half ended, on one graph (see `pursue`). A symbol means the same wherever it stands, and one that
 * is missed by little is a near one.
 */
export class TwoPartPursuit extends TextReader {
  /** Reads tuples as points, which a batch brings along. */
  readonly reads = 'points';
  /** log κ_i [L] */
  readonly sharpness: Tensor;
  readonly events: VectorSpace;
  readonly objects: VectorSpace;
  /** See `PursuitEncoder`. [K, D], [K] */
  readonly starts: Tensor | undefined;
  readonly cutoffs: Tensor | undefined;
  #symbols: Symbols | undefined;
  #graph: GraphPosterior | undefined;

  constructor(
    encoder: TextEncoder,
    { length, sharpness, standing }: { length: number; sharpness: number; standing?: number | undefined },
  ) {
    super(encoder, true);
    halfOf(length);
    this.sharpness = nn.parameter(full([length], Math.log(sharpness)));
    this.events = new VectorSpace(encoder.width);
    this.objects = new VectorSpace(encoder.width);
    if (standing === undefined) return;
    this.starts = zeros([standing, encoder.width]).keep();
    this.cutoffs = zeros([standing]).keep();
  }

  attach(symbols: Symbols, graph: GraphPosterior): void {
    this.#symbols = symbols;
    this.#graph = graph;
  }

  /** h of whole walks: both halves' scores as those of one walk. [B, L, K] */
  scores({ points, secondWalks }: Pick<ReadTuples, 'points' | 'secondWalks'>): Tensor {
    const first = this.#half(there(points?.first), 0);
    const second = this.#half(there(points?.second), first.steps.length, first.last);
    return stack([...first.steps, ...(secondWalks ? replaced(second.steps, secondWalks) : second.steps)], 1);
  }

  /** h of the first half, from the points of (s, r). [B, H, K] */
  firstScores({ points }: Pick<ReadTuples, 'points'>): Tensor {
    return stack(this.#half(there(points?.first), 0).steps, 1);
  }

  /** The scores of a half's steps along the walk that pursues best, and where it ends. */
  #half(points: Tensor, at: number, from?: Tensor): { steps: Tensor[]; last: Tensor } {
    const { starts, cutoffs } = this;
    const linkProbabilities = noGrad(() => this.#graph!.links().matrix());
    const dictionary = dictionaryOf(unitRows(this.#symbols!.rows()), { linkProbabilities, starts, cutoffs });
    const sharpness = this.sharpness.exp().unbind(0);
    const steps: Tensor[] = [];
    const { walks } = pursue(points, dictionary, {
      length: sharpness.length / 2,
      candidates: 1,
      sharpness: (step) => sharpness[at + step]!,
      onStep: (logs) => steps.push(logs.reshape(points.dim(0), -1)),
      ...(from ? { from } : {}),
    });
    return { steps, last: walks.select(1, 0).select(1, walks.dim(2) - 1) };
  }
}

/** Scores [B, K] of steps that leave no doubt, for tuples whose second half is given. */
function replaced(steps: readonly Tensor[], secondWalks: NonNullable<ReadTuples['secondWalks']>): Tensor[] {
  const symbols = steps[0]!.dim(1);
  return steps.map((scores, i) => {
    const [wanted, free] = [
      new Float32Array(secondWalks.length * symbols),
      new Float32Array(secondWalks.length),
    ];
    for (const [n, walk] of secondWalks.entries()) {
      if (!walk) free[n] = 1;
      else for (let k = 0; k < symbols; k++) wanted[n * symbols + k] = walk[i] === k ? 0 : unlikely;
    }
    const own = scores.mul(Tensor.fromArray(free, [secondWalks.length, 1]));
    return own.add(Tensor.fromArray(wanted, [secondWalks.length, symbols]));
  });
}

function there(points: Tensor | undefined): Tensor {
  if (!points) throw new TypeError('walks are pursued from points, which the batch does not bring along');
  return points;
}

/** The vector of (s, r): the event's, with some of the relation's. Unit rows [B, D] each */
export const prefixVectors = (events: Tensor, relations: Tensor): Tensor =>
  unitRows(events.add(relations.mul(relationWeight)));
