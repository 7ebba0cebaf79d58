import { arange, call, callMany, cat, noGrad, stack, type Tensor, zeros } from '@hidden-schema/torch';
import {
  type Dictionary,
  highest,
  leastGains,
  maskByLinks,
  NEG_LARGE,
  type Sharpness,
} from './dictionary.ts';

// Shapes: n points, S their width, K symbols, b candidate walks a point, i steps taken so far.

/** Gain of a symbol that the walk already has, below every gain of a new one (at least −1): taken where nothing else is linked. */
export const REVISIT_PENALTY = -4;
/**
 * β after one, two, three and more symbols: how much of what they tell is taken off before the next is chosen. Right
 * after the first a symbol near the whole point says most of what kind of text it is; later ones tell texts apart.
 */
const residualShares = [0, 0.5, 1] as const;
/** Rounds in which coefficients settle after each step, from those before it. */
const settlingRounds = 2;

export interface PursuitOptions {
  length: number;
  candidates: number;
  /** κ of the first step and of the others, or of each step from 0. */
  sharpness: Sharpness | ((step: number) => Tensor);
  /** Symbols that walks come from: first steps keep to their links. [n] */
  from?: Tensor;
  /**
   * Hears log q of each step's symbols, given the candidates so far, and h_i of every symbol, linked to a candidate's last or
   * not: a walk that is drawn may have come another way. [n, b, K] each
   */
  onStep?: (logs: Tensor, scores: Tensor) => void;
}

/** Candidate walks of each point, the most probable first. */
export interface Candidates {
  /** [n, b, L] int64 */
  walks: Tensor;
  /** a ≥ 0 with x ≈ Σ_i a_i·e_{z_i}; zero where a symbol comes again. [n, b, L] */
  coefficients: Tensor;
  /** log q(z|x, A) [n, b] */
  logProbabilities: Tensor;
}

export interface Pursued extends Candidates {
  /** ‖x‖² [n], and how much of it each walk leaves over. [n, b] */
  squares: Tensor;
  left: Tensor;
}

/**
 * The posterior over walks as an unrolled pursuit. With r_i = x − β_i·Σ_{m<i} a_m·e_{z_m} what the walk so far leaves over
 * (`residualShares`) and c = E·r_i, taking symbol k explains c_k² of its squared length, so that
 *
 *   h_i = κ_i·c·|c|,   q(z_1) = softmax(h_1),   q(z_i = k | z_{i−1} = j) = exp(h_i[k])·A_kj / Σ_m exp(h_i[m])·A_mj
 *
 * (the paper's ρ and Q^[i] with these h in place of the queries' outputs). Coefficients are the non-negative least
 * squares on the symbols taken. A beam keeps the most probable walks; with one candidate it is greedy.
 *
 * With cutoffs τ, h_i = κ_i·(c·|c| − τ·max(τ, ¾·c_first)) after the first step (`leastGains`), with c = E·x, and 0 for the symbol that
 * the walk is on: it goes on to the linked symbol that stands out most, and where none does it stays, to its end. A step
 * that stays changes no coefficient. Nothing is taken off: what is left of a text is not part of its meaning.
 */
export function pursue(points: Tensor, dictionary: Dictionary, options: PursuitOptions): Pursued {
  const { symbols, overlaps, links } = dictionary;
  const fit = points.matmul(symbols.transpose(0, 1)); // x·E [n, K]
  const { onStep } = options;
  const begins = dictionary.starts ? points.matmul(dictionary.starts.transpose(0, 1)) : fit;
  const first = gains(begins).mul(sharpnessAt(options, 0));
  const gate = options.from ? links?.steps : links?.starts;
  const logs = (gate ? maskByLinks(gate, first, options.from) : first).logSoftmax(1);
  onStep?.(logs, logs);
  const { values, indices } = highest(logs, options.candidates);
  let beam: Candidates = {
    walks: indices.unsqueeze(2),
    // What a walk leaves over is given; only how symbols see it is learned from.
    coefficients: fit.detach().gather(1, indices).clamp(0).unsqueeze(2),
    logProbabilities: values,
  };
  for (let step = 1; step < options.length; step++) {
    const next = nextStep(beam, fit, dictionary, sharpnessAt(options, step));
    onStep?.(next.logs, next.scores);
    beam = extended(beam, next.logs, options.candidates);
    beam = { ...beam, coefficients: noGrad(() => settled(beam, fit, overlaps)) };
  }
  const squares = points.mul(points).sum(1);
  return {
    ...beam,
    squares,
    left: squares
      .unsqueeze(1)
      .sub(explained(beam, fit, overlaps))
      .clamp(0),
  };
}

export function sharpnessAt({ sharpness }: Pick<PursuitOptions, 'sharpness'>, step: number): number | Tensor {
  if (typeof sharpness === 'function') return sharpness(step);
  return step === 0 ? sharpness.first : sharpness.later;
}

/** The coefficients of given walks [n, L]: the non-negative least squares on their symbols. [n, L] */
export function solveNnls(points: Tensor, { symbols, overlaps }: Dictionary, walks: Tensor): Tensor {
  const fit = points.matmul(symbols.transpose(0, 1));
  const [n, L] = walks.shape as [number, number];
  let beam = { walks: walks.narrow(1, 0, 1).unsqueeze(1), coefficients: zeros([n, 1, 1]) };
  for (let step = 1; step <= L; step++) {
    const coefficients = settled(beam, fit, overlaps);
    if (step === L) return coefficients.reshape(n, L);
    beam = {
      walks: walks.narrow(1, 0, step + 1).unsqueeze(1),
      coefficients: cat([coefficients, zeros([n, 1, 1])], 2),
    };
  }
  return zeros([n, 0]);
}

/** 2·d·E·x − d·E·Eᵀ·d with the coefficients d of each walk. [n, b] */
function explained({ walks, coefficients }: Candidates, fit: Tensor, overlaps: Tensor): Tensor {
  const [n, b] = walks.shape as [number, number];
  const K = fit.dim(1);
  const rest = fit
    .mul(2)
    .unsqueeze(1)
    .sub(reconstruction({ walks, coefficients }, overlaps).reshape(n, b, K));
  return rest.gather(2, walks).mul(coefficients).sum(2);
}

/** Σ_i a_i·E·e_{z_i}: what each walk tells, seen by every symbol, from the few it has. [n·b, K] */
function reconstruction(
  { walks, coefficients }: Pick<Candidates, 'walks' | 'coefficients'>,
  overlaps: Tensor,
): Tensor {
  const [n, b, i] = walks.shape as [number, number, number];
  const starts = arange(n * b).mul(i);
  const sum = 0;
  const weights = coefficients.reshape(n * b * i);
  const places = walks.reshape(n * b * i);
  if (overlaps.requiresGrad) {
    const rows = overlaps.indexSelect(0, places).mul(weights.unsqueeze(1));
    return rows.reshape(n * b, i, overlaps.dim(1)).sum(1);
  }
  return callMany('embedding_bag', overlaps, places, starts, false, sum, false, weights, false)[0]!;
}

/** c·|c|: the squared length that a symbol explains, below zero where it points away. */
export const gains = (fit: Tensor): Tensor => fit.mul(fit.abs());

/** h_i, and log q of each candidate's next symbol. [n, b, K] each */
function nextStep(
  { walks, coefficients }: Candidates,
  fit: Tensor,
  dictionary: Dictionary,
  sharpness: number | Tensor,
): { scores: Tensor; logs: Tensor } {
  const { overlaps, links, cutoffs } = dictionary;
  const [n, b, i] = walks.shape as [number, number, number];
  const K = fit.dim(1);
  const taken = walks.reshape(n * b, i);
  const last = taken.select(1, i - 1);
  const seen = (scores: Tensor, value: number) => call('scatter.value', scores, 1, taken, value);
  const gate = (scores: Tensor) => (links ? maskByLinks(links.steps, scores, last) : scores);
  if (cutoffs) {
    const least = leastGains(cutoffs, fit, walks.select(2, 0)); // [n, b, K]
    const above = gains(fit)
      .unsqueeze(1)
      .sub(least)
      .reshape(n * b, K);
    const { scores, open } = standingScores(above, taken, { links, sharpness });
    return { scores: scores.reshape(n, b, K), logs: open.logSoftmax(1).reshape(n, b, K) };
  }
  const share = residualShares[Math.min(i, residualShares.length) - 1]!;
  const before = fit.unsqueeze(1);
  const tells = () =>
    reconstruction({ walks, coefficients: coefficients.mul(share) }, overlaps).reshape(n, b, K);
  const left = share === 0 ? before.expand(n, b, K) : before.sub(tells());
  const explaining = gains(left.reshape(n * b, K));
  const scores = links
    ? seen(explaining, REVISIT_PENALTY).mul(sharpness)
    : seen(explaining.mul(sharpness), NEG_LARGE);
  return { scores: scores.reshape(n, b, K), logs: gate(scores).logSoftmax(1).reshape(n, b, K) };
}

/**
 * h_i where walks name what stands out: κ_i times how far each symbol is above its cutoff, those that the walk has far below,
 * and 0 for the one that it is on, so that it stays where nothing stands out. `open` has them along the links of that one.
 * above [m, K], taken [m, i] → [m, K] each
 */
export function standingScores(
  above: Tensor,
  taken: Tensor,
  { links, sharpness }: { links: Dictionary['links']; sharpness: number | Tensor },
): { scores: Tensor; open: Tensor } {
  const last = taken.select(1, taken.dim(1) - 1);
  const standing = call('scatter.value', above, 1, taken, REVISIT_PENALTY);
  const scores = call('scatter.value', standing, 1, last.unsqueeze(1), 0).mul(sharpness);
  const open = links ? maskByLinks(links.steps, scores, last) : scores;
  // A symbol elsewhere that stands out more must not drown the steps that are open: see `weightRange` of a transition.
  return { scores: scores.minimum(open.amax(1, true)), open };
}

/** The most probable walks one step longer; new symbols have no coefficient yet. */
function extended(
  { walks, coefficients, logProbabilities }: Candidates,
  next: Tensor,
  most: number,
): Candidates {
  const [n, b, K] = next.shape as [number, number, number];
  const all = logProbabilities
    .unsqueeze(2)
    .add(next)
    .reshape(n, b * K);
  const { values, indices } = highest(all, most);
  const from = call('floor_divide.Scalar', indices, K).unsqueeze(2); // [n, b', 1]
  const symbol = call('remainder.Scalar', indices, K).unsqueeze(2);
  const before = from.expand(-1, -1, walks.dim(2));
  const fresh = zeros([n, symbol.dim(1), 1]);
  return {
    walks: cat([walks.gather(1, before), symbol], 2),
    coefficients: cat([coefficients.gather(1, before), fresh], 2),
    logProbabilities: values,
  };
}

/**
 * Non-negative least squares by coordinates: a_i ← max(0, c_i − Σ_{m≠i} (e_i·e_m)·a_m), zero where a symbol comes again; a
 * walk that has just stayed keeps what it has.
 * Each coordinate of all walks is one row of numbers: many short rows would take several times as long. [n, b, i]
 */
function settled(
  { walks, coefficients }: Pick<Candidates, 'walks' | 'coefficients'>,
  fit: Tensor,
  overlaps: Tensor,
): Tensor {
  const [n, b, i] = walks.shape as [number, number, number];
  const K = fit.dim(1);
  const byStep = (values: Tensor) =>
    values
      .reshape(n * b, i)
      .transpose(0, 1)
      .contiguous();
  const taken = byStep(walks); // [i, n·b]
  const places = taken.unsqueeze(1).mul(K).add(taken.unsqueeze(0)).reshape(-1);
  const between = overlaps.reshape(-1).indexSelect(0, places).reshape(i, i, -1);
  const own = byStep(fit.gather(1, walks.reshape(n, b * i)));
  for (let at = 1; at < i; at++) {
    const fresh = isFresh(taken, at);
    own.select(0, at).mul_(fresh).add_(0); // no −0
    between.select(0, at).mul_(fresh);
  }
  const [c, a] = [own.unbind(0), byStep(coefficients).unbind(0)];
  const overlap = between.unbind(0).map((row) => row.unbind(0));
  for (let round = 0; round < settlingRounds; round++)
    for (let at = 0; at < i; at++) {
      const best = a.reduce(
        (left, other, m) => (m === at ? left : call('addcmul', left, overlap[at]![m]!, other, -1)),
        c[at]!,
      );
      a[at] = best.clamp(0);
    }
  const after = stack(a, 1).reshape(n, b, i);
  if (i === 1) return after;
  const stayed = walks
    .select(2, i - 1)
    .eq(walks.select(2, i - 2))
    .unsqueeze(2);
  return call('where.self', stayed, coefficients, after);
}

/** 1 where the symbol of a step did not come before it, 0 where it did. [i, n] → [n] */
function isFresh(taken: Tensor, at: number): Tensor {
  const again = taken.narrow(0, 0, at).eq(taken.select(0, at));
  return call('any.dim', again, 0, false).to('float32').neg().add(1);
}
