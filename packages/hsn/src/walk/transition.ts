import { call, fusable, type Tensor } from '@hidden-schema/torch';
import { type Links, linkMeans, meanProducts, walkStep } from '../kernels.ts';
import type { WalkableGraph } from './walkable-graph.ts';

// Shapes: B sentences, K symbols. Matrices over symbols are [from, to]; the paper writes [to, from].

/** `paper`: Q ∝ f_k A (Eq. 6). `symmetric`: Q ∝ (f_j f_k + c) A, the authors' program. */
export interface TransitionForm {
  readonly kind: 'paper' | 'symmetric';
  /** c of the symmetric form. */
  readonly constant: number;
  /**
   * Node weights within a step differ by at most this many nats, bent smoothly towards it. A small range keeps the
   * gradient of a missing link bounded where links are sampled; without it only the limits of float32 count.
   */
  readonly range?: number;
}

export const paperForm: TransitionForm = { kind: 'paper', constant: 0 };

/** Node weights span at most this many nats, so that no row sum underflows in float32, nor its gradient overflows. */
const weightRange = 25;

/** f and its row sums D, [.., K]. */
interface Weighed {
  readonly weights: Tensor;
  readonly rowSums: Tensor;
}

const constantOf = (form: TransitionForm): number => (form.kind === 'paper' ? 0 : form.constant);

/**
 * A walk that stays: e^s_j times the weight of each node's link to itself, which makes the walk sticky. A prior has it, and
 * a posterior that weighs evidence by that prior, in the paper's form.
 */
interface Stays {
  /** s [1, K] */
  readonly logs: Tensor;
  /** R with e^s_j·R_jj on its diagonal, written out: a small e^s would be lost in a difference. [K, K] */
  readonly rows: Tensor;
}

function staysOf({ rows, nodes }: WalkableGraph, logs: Tensor): Stays {
  const own = call('diagonal', rows, 0, 0, 1);
  const others = rows.mul(call('diag', own.detach().mul(0).add(1)).neg().add(1));
  return { logs, rows: others.add(call('diag', own.mul(logs.exp().reshape(nodes)))) };
}

function weigh(graph: WalkableGraph, logWeights: Tensor, form: TransitionForm): Weighed {
  const constant = constantOf(form);
  // Only the paper's form may shift log f by a constant per sentence: it cancels there.
  const { range } = form;
  const top = logWeights.amax(-1, true);
  // Bent weights do not forget the shift, so its gradient counts then.
  const shift = range === undefined ? top.detach() : top;
  const shifted = constant === 0 ? logWeights.sub(shift) : logWeights;
  const bent = range === undefined ? shifted : shifted.div(range).tanh().mul(range);
  const weights = bent.clamp(-weightRange, weightRange).exp();
  const reached = graph.gathered(weights);
  const sums = constant === 0 ? reached : weights.mul(reached).add(constant);
  return { weights, rowSums: withoutIsolated(graph, sums) };
}

/** Rows of isolated nodes have no sum; 1 keeps their logarithm harmless. */
const withoutIsolated = ({ hasIsolated, active }: WalkableGraph, sums: Tensor): Tensor =>
  hasIsolated ? sums.mul(active).add(active.neg().add(1)) : sums;

/**
 * The transition matrices of one step for a whole batch (Eqs. 4 and 6), never written out: with row-scaled
 * adjacency R, Q_jk = R_jk (a_j f_k + c) / D_j and D_j = a_j Σ_m f_m R_jm + c, where a = 1, c = 0 in the paper's form
 * and a = f in the symmetric one. With c = 0 the factor a_j cancels and both are the paper's, which is how it is
 * computed: f_j f_k would underflow. Each use is a product of [B, K] with [K, K].
 */
export class Transition {
  readonly graph: WalkableGraph;
  readonly #constant: number; // c; 0 means the paper's form
  readonly #weights: Tensor; // f [B, K]
  readonly #rowSums: Tensor; // D [B, K]
  /** How a walk stays, where it may. */
  #stays: Stays | undefined;
  #priorLogRatio: Tensor | undefined;
  #priorAt: { target: Tensor; source: Tensor } | undefined;
  /** Where sentences were last seen to leave from, and what left: ρ̂ and ρ̂ / D. */
  #departed: { position: Tensor; leaving: Tensor } | undefined;

  /** `logWeights` is log f, [B, K]; a batch of one serves a prior. */
  constructor(
    graph: WalkableGraph,
    logWeights: Tensor,
    form: TransitionForm = paperForm,
    weighed: Weighed = weigh(graph, logWeights, form),
  ) {
    this.graph = graph;
    this.#constant = constantOf(form);
    this.#weights = weighed.weights;
    this.#rowSums = weighed.rowSums;
  }

  /** A transition on links to itself of weight e^s: Q_jk ∝ f_k A_jk e^(s_j [j = k]). log f [B, K], s [1, K] */
  static sticky(graph: WalkableGraph, logWeights: Tensor, stays: Tensor): Transition {
    const { weights } = weigh(graph, logWeights, paperForm);
    const sticky = staysOf(graph, stays);
    const sums = weights.matmul(sticky.rows.transpose(0, 1));
    const rowSums = withoutIsolated(graph, sums);
    const made = new Transition(graph, logWeights, paperForm, { weights, rowSums });
    made.#stays = sticky;
    return made;
  }

  /** One transition for each step of log f [B, L−1, K], whose row sums are made in one product. */
  static steps(graph: WalkableGraph, logWeights: Tensor, form: TransitionForm = paperForm): Transition[] {
    if (logWeights.dim(1) === 0) return [];
    const ordered = logWeights.transpose(0, 1).contiguous(); // [L−1, B, K]
    const { weights, rowSums } = weigh(graph, ordered, form);
    const [logs, f, D] = [ordered.unbind(0), weights.unbind(0), rowSums.unbind(0)];
    return logs.map((log, i) => new Transition(graph, log, form, { weights: f[i]!, rowSums: D[i]! }));
  }

  /** Mass arriving along links from (soft or one-hot) positions. [B, K] */
  arrive(position: Tensor): Tensor {
    if (this.#fused(position)) {
      const weighed = { weights: this.#weights, rowSums: this.#rowSums };
      const { next, leaving } = walkStep(position, weighed, this.graph);
      this.#departed = { position, leaving };
      return next;
    }
    const leaving = position.div(this.#rowSums); // what sits on isolated nodes meets zero rows
    const { rows } = this.#stays ?? this.graph;
    if (this.#constant === 0) return this.#weights.mul(leaving.matmul(rows));
    const weighted = this.#weights.mul(leaving.mul(this.#weights).matmul(rows));
    return weighted.add(leaving.matmul(rows).mul(this.#constant));
  }

  /** Whether one kernel makes a step from here: in the paper's form, with a transition for each sentence. */
  #fused(position: Tensor): boolean {
    if (this.#stays || this.#constant !== 0 || position.dim(0) !== this.#weights.dim(0)) return false;
    return [position, this.#weights, this.#rowSums, this.graph.rows].every(fusable);
  }

  /** Distribution of the next node. [B, K] */
  next(position: Tensor, arrived = this.arrive(position)): Tensor {
    return this.graph.hasIsolated ? arrived.add(this.graph.leaveIsolated(position)) : arrived;
  }

  /**
   * (1/B) Σ_n w_nj Q^n_jk / R_jk: the batch's mean transition matrix for w = 1, its pairwise marginals for w = ρ̂,
   * both without their factor R, by which they have to be multiplied. [K, K]
   */
  meanRatio(weights?: Tensor): Tensor {
    const leaving = this.#leaving(weights);
    if (this.#stays) {
      const moved = leaving.div(leaving.dim(0)).transpose(0, 1).matmul(this.#weights);
      return moved.add(
        call('diag', call('diagonal', moved, 0, 0, 1).mul(call('expm1', this.#stays.logs.select(0, 0)))),
      );
    }
    if (this.#constant === 0 && [leaving, this.#weights].every(fusable))
      return meanProducts(leaving, this.#weights, this.graph.links);
    const scaled = leaving.div(leaving.dim(0)).transpose(0, 1); // [K, B]
    if (this.#constant === 0) return scaled.matmul(this.#weights);
    const left = scaled.mul(this.#weights.transpose(0, 1)).matmul(this.#weights);
    return left.add(scaled.sum(1, true).mul(this.#constant));
  }

  /** The same at the graph's links alone, in the paper's form. [E] */
  linkRatio(weights: Tensor, links: Links): Tensor {
    return linkMeans(this.#leaving(weights), this.#weights, links);
  }

  /** w / D, which a step from w has made already. [B, K] */
  #leaving(weights: Tensor | undefined): Tensor {
    if (!weights) return this.#rowSums.reciprocal();
    const { position, leaving } = this.#departed ?? {};
    return position === weights && leaving?.alive ? leaving : weights.div(this.#rowSums);
  }

  /** Whether log(Q/R) splits into a part of each end: in the paper's form, where walks do not stay. */
  get splits(): boolean {
    return this.#constant === 0 && !this.#stays;
  }

  /** Mass that stays where it is, of positions [B, K] from which it goes on by this transition. [B, K] */
  staying(position: Tensor): Tensor {
    const own = call('diagonal', (this.#stays ?? this.graph).rows, 0, 0, 1).unsqueeze(0);
    return this.#leaving(position).mul(this.#weights).mul(own);
  }

  /** s of a walk that may stay. [1, K] */
  get stays(): Tensor | undefined {
    return this.#stays?.logs;
  }

  /** log f_k and log D_j, into which log(Q/R) splits in the paper's form but for what stays add. */
  get split(): { target: Tensor; source: Tensor } | undefined {
    if (this.#constant !== 0) return undefined;
    return { target: this.#weights.log(), source: this.#rowSums.log() };
  }

  /** log(P_jk / R_jk) of a prior, a batch of one; made once, since a prior's steps may share their transition. [K, K] */
  get priorLogRatio(): Tensor {
    this.#priorLogRatio ??= this.logRatio(0);
    return this.#priorLogRatio;
  }

  /** log f at the ends of links [E], and log D [K], of a prior in the paper's form; made once, as above. */
  priorAt(links: Links): { target: Tensor; source: Tensor } {
    this.#priorAt ??= {
      target: this.#weights.select(0, 0).log().indexSelect(0, links.to),
      source: this.#rowSums.select(0, 0).log(),
    };
    return this.#priorAt;
  }

  /** log(Q_jk / R_jk) of one sentence of the batch. [K, K] */
  logRatio(sentence: number): Tensor {
    const f = this.#weights.select(0, sentence);
    const targets =
      this.#constant === 0 ? f.unsqueeze(0) : f.unsqueeze(1).mul(f.unsqueeze(0)).add(this.#constant);
    const ratio = targets.log().sub(this.#rowSums.select(0, sentence).log().unsqueeze(1));
    return this.#stays ? ratio.add(call('diag', this.#stays.logs.select(0, 0))) : ratio;
  }

  /** log Q of given steps: from [B], to [B] (int64) → [B]. −∞ where there is no link. */
  logProb(from: Tensor, to: Tensor): Tensor {
    const own = (x: Tensor, index: Tensor) =>
      x.expand(index.dim(0), this.graph.nodes).gather(1, index.unsqueeze(1)).squeeze(1);
    return this.#stepLogProb(own, from, to);
  }

  /** log Q of every given step under every sentence's transition: from [M], to [M] → [B, M]. */
  crossLogProb(from: Tensor, to: Tensor): Tensor {
    return this.#stepLogProb((x, index) => x.indexSelect(1, index), from, to);
  }

  /** `at` picks the columns of a [B, K] tensor that steps begin or end at. */
  #stepLogProb(at: (x: Tensor, index: Tensor) => Tensor, from: Tensor, to: Tensor): Tensor {
    const target = at(this.#weights, to);
    const numerator = this.#constant === 0 ? target : target.mul(at(this.#weights, from)).add(this.#constant);
    const row = this.graph.rows.reshape(-1).indexSelect(0, from.mul(this.graph.nodes).add(to));
    const moved = row.log().add(numerator.log()).sub(at(this.#rowSums, from).log());
    const kept = from.eq(to).to(this.#weights.dtype);
    const walked = this.#stays ? moved.add(at(this.#stays.logs, from).mul(kept)) : moved;
    const active = this.graph.active.indexSelect(0, from).gt(0);
    return walkedOr(active, walked, this.#isolatedLogProb(from, to));
  }

  #isolatedLogProb(from: Tensor, to: Tensor): Tensor {
    const stays = from.eq(to).to(this.#weights.dtype);
    return this.graph.isolatedRule === 'stay' ? stays.log() : stays.mul(0).sub(Math.log(this.graph.nodes));
  }
}

const walkedOr = (active: Tensor, walked: Tensor, isolated: Tensor): Tensor =>
  walked.maskedFill(active.logicalNot(), 0).add(isolated.maskedFill(active, 0));
