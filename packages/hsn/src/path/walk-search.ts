import { UserError } from '@hidden-schema/base';
import { type Generator, multinomial, noGrad, scope, Tensor } from '@hidden-schema/torch';
import type { TupleTokens } from '../tasks/tuples/tokens.ts';
import { walkTensor } from '../tasks/tuples/walks.ts';
import type { PathModel } from './path.ts';
import type { PathContext } from './path-model.ts';

/** How second halves are chosen: the best symbol after symbol, drawn, or the best walks of a beam. */
export interface SearchOptions {
  how: 'greedy' | 'sample' | 'beam';
  /** Second halves of each first half; for greedy one. */
  count?: number;
  /** sample: divides the scores. */
  temperature?: number;
  generator?: Generator;
}

/** z_{L/2+1:L} with log p(z_{L/2+1:L}|z_{1:L/2}, s, r). */
export interface Continuation {
  second: number[];
  logProb: number;
}

export function checkSearch({ how, count = 1, temperature = 1 }: SearchOptions): void {
  if (!Number.isInteger(count) || count < 1)
    throw new UserError(`the number of walks is a whole number from 1, got ${count}`);
  if (how === 'greedy' && count > 1)
    throw new UserError(`greedy search finds one walk, got a count of ${count}; choose beam or sample`);
  if (!(temperature > 0 && Number.isFinite(temperature)))
    throw new UserError(`the temperature of walks is a positive number, got ${temperature}`);
}

/** First halves at a time, so that a beam's contexts fit into memory. */
const atOnce = 32;

/** First halves of walks, one for each row of the path model's own tuples or of others. */
export interface BegunWalks {
  rows: Int32Array;
  first: readonly (readonly number[])[];
  tokens?: TupleTokens;
}

/** Goes on from first halves; answers in their order, the most probable first. */
export function continueWalks(
  model: PathModel,
  { rows, first, tokens }: BegunWalks,
  options: SearchOptions,
): Continuation[][] {
  checkSearch(options);
  model.train(false);
  const out: Continuation[][] = [];
  for (let at = 0; at < rows.length; at += atOnce)
    out.push(
      ...scope(() =>
        noGrad(() => {
          const some = rows.slice(at, at + atOnce);
          const begun = { first: first.slice(at, at + atOnce), context: model.context(some, tokens) };
          return search(model, begun, options);
        }),
      ),
    );
  return out;
}

interface Beam extends Continuation {
  /** Which first half it goes on from. */
  of: number;
}

interface Begun {
  first: BegunWalks['first'];
  context: PathContext;
}

function search(model: PathModel, begun: Begun, options: SearchOptions): Continuation[][] {
  const { first } = begun;
  const copies = options.how === 'sample' ? (options.count ?? 1) : 1;
  let beams: Beam[] = first.flatMap((_, of) =>
    Array.from({ length: copies }, () => ({ of, second: [], logProb: 0 })),
  );
  for (let step = 0; step < first[0]!.length; step++)
    beams = scope(() => extended(model, begun, beams, options));
  return first.map((_, of) =>
    beams
      .filter((beam) => beam.of === of)
      .sort((a, b) => b.logProb - a.logProb)
      .map(({ second, logProb }) => ({ second, logProb })),
  );
}

/** One symbol more for every beam. */
function extended(
  model: PathModel,
  { first, context }: Begun,
  beams: readonly Beam[],
  options: SearchOptions,
): Beam[] {
  const owners = Tensor.fromArray(
    Int32Array.from(beams, ({ of }) => of),
    [beams.length],
  );
  const own = { hidden: context.hidden.indexSelect(0, owners), mask: context.mask.indexSelect(0, owners) };
  const seconds = beams.map(({ second }) => second);
  const written = seconds[0]!.length > 0 ? walkTensor(seconds) : undefined;
  const scores = model.scores(walkTensor(beams.map(({ of }) => first[of]!)), written, own);
  const last = scores.select(1, scores.dim(1) - 1).logSoftmax(-1); // [beams, K]
  if (options.how === 'sample') return drawn(beams, last, options);
  const count = options.how === 'beam' ? (options.count ?? 1) : 1;
  return best(beams, last, first.length, count);
}

function drawn(beams: readonly Beam[], logs: Tensor, { temperature = 1, generator }: SearchOptions): Beam[] {
  if (!generator) throw new TypeError('drawing walks needs a generator');
  const chosen = multinomial(logs.div(temperature).softmax(-1), 1, generator); // [beams, 1]
  const nodes = chosen.toNumbers();
  const gained = logs.gather(1, chosen).toNumbers();
  return beams.map(({ of, second, logProb }, i) => ({
    of,
    second: [...second, nodes[i]!],
    logProb: logProb + gained[i]!,
  }));
}

/** The `count` most probable of all beams that go on from a first half. */
function best(beams: readonly Beam[], logs: Tensor, firsts: number, count: number): Beam[] {
  const width = Math.min(count, logs.dim(1));
  const { values, indices } = logs.topk(width);
  const [gained, nodes] = [values.toNumbers(), indices.toNumbers()];
  const grown: Beam[][] = Array.from({ length: firsts }, () => []);
  for (const [i, { of, second, logProb }] of beams.entries())
    for (let k = i * width; k < (i + 1) * width; k++)
      grown[of]!.push({ of, second: [...second, nodes[k]!], logProb: logProb + gained[k]! });
  return grown.flatMap((some) => some.sort((a, b) => b.logProb - a.logProb).slice(0, count));
}
