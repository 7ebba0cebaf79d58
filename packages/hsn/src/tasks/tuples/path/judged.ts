import { objectLogProbs } from '../objects.ts';
import { type OpenedReasoning, prefixTable } from '../open.ts';
import type { TupleTokens } from '../tokens.ts';
import { secondLogProbs } from '../walk-search.ts';
import { TupleWalks } from '../walks.ts';
import type { Candidate } from './reasoner.ts';
import type { WalkPath } from './walk-path.ts';

/** (s, r) with objects that are to be judged. */
export interface ObjectsToJudge {
  head: string;
  relation: string;
  objects: readonly string[];
}

/** An object with log p(o|s, r), as a model without walks has it. */
export interface JudgedObject {
  object: string;
  score: number;
}

const tuplesOf = (asked: readonly ObjectsToJudge[]) =>
  asked.flatMap(({ head, relation, objects }) => objects.map((object) => ({ head, relation, object })));

/** Values of all objects, list by list. */
function* lists<T>(asked: readonly ObjectsToJudge[], all: readonly T[]): Generator<T[]> {
  let at = 0;
  for (const { objects } of asked) {
    yield all.slice(at, at + objects.length);
    at += objects.length;
  }
}

/** Objects by log p(o|s, r) of a decoder that is given no walk, the most probable first. */
export async function scoreWithoutWalks(
  opened: OpenedReasoning,
  asked: readonly ObjectsToJudge[],
): Promise<JudgedObject[][]> {
  const tokens = await prefixTable(opened, tuplesOf(asked));
  const rows = Int32Array.from({ length: tokens.table.count }, (_, row) => row);
  const logs = objectLogProbs(opened.model, tokens, rows);
  return [...lists(asked, logs)].map((own, n) =>
    asked[n]!.objects.map((object, i) => ({ object, score: own[i]! })).sort((a, b) => b.score - a.score),
  );
}

/** Objects read into their own walks and written again from them: what every path model judges by alike. */
export interface ReadObjects {
  asked: readonly ObjectsToJudge[];
  tokens: TupleTokens;
  /** Of each (s, r) and object: its first row, the walks, and log p(o|s, r, z). */
  rows: Int32Array;
  walks: number[][][];
  written: number[][];
}

export async function readObjects(
  opened: OpenedReasoning,
  asked: readonly ObjectsToJudge[],
): Promise<ReadObjects> {
  const tokens = await prefixTable(opened, tuplesOf(asked));
  const all = Int32Array.from({ length: tokens.table.count }, (_, row) => row);
  const reader = new TupleWalks(opened.model, tokens);
  try {
    const whole = reader.whole(all, 'best');
    const written = [...lists(asked, objectLogProbs(opened.model, tokens, all, whole))];
    const rows = Int32Array.from(lists(asked, [...all]), ([row]) => row ?? -1);
    return { asked, tokens, rows, walks: [...lists(asked, whole)], written };
  } finally {
    reader.free();
  }
}

/**
 * Objects by log p(z_{L/2+1:L}|z_{1:L/2}, s, r) + log p(o|s, r, z), z the walk that the object itself is read into: the
 * largest term of log p(o|s, r) = log Σ_z p(z|s, r) p(o|s, r, z), since other walks hardly lead to it.
 */
export function scoreWithWalks(path: WalkPath, read: ReadObjects): Candidate[][] {
  const { asked, tokens, rows, walks, written } = read;
  const there = asked.flatMap(({ objects }, n) => (objects.length > 0 ? [n] : []));
  const halfOf = (walk: readonly number[], second: boolean) =>
    second ? walk.slice(walk.length / 2) : walk.slice(0, walk.length / 2);
  const halves = {
    rows: Int32Array.from(there, (n) => rows[n]!),
    first: there.map((n) => halfOf(walks[n]![0]!, false)),
    tokens,
  };
  const gone = secondLogProbs(
    path,
    halves,
    there.map((n) => walks[n]!.map((walk) => halfOf(walk, true))),
  );
  const out: Candidate[][] = asked.map(() => []);
  for (const [i, n] of there.entries())
    out[n] = asked[n]!.objects.map((object, at) => {
      const [walkLogProb, objectLogProb] = [gone[i]![at]!, written[n]![at]!];
      const score = walkLogProb + objectLogProb;
      return { object, walk: walks[n]![at]!, walkLogProb, objectLogProb, score, walks: 1 };
    }).sort((a, b) => b.score - a.score);
  return out;
}
