import { UserError } from '@hidden-schema/base';
import { z } from 'zod';

/** A number with its default, and in words what it has to be. */
const number = (usual: number, words: string, fits: (value: number) => boolean) =>
  z.custom<number>((value) => typeof value === 'number' && fits(value), words).default(usual);
const whole = (usual: number, least: number, largest = 1_000_000) =>
  number(
    usual,
    `is a whole number from ${least} to ${largest}`,
    (value) => Number.isSafeInteger(value) && value >= least && value <= largest,
  );
const positive = (usual: number) =>
  number(usual, 'is a number above 0', (value) => value > 0 && Number.isFinite(value));
const share = (usual: number) =>
  number(usual, 'lies above 0 and at most at 1', (value) => value > 0 && value <= 1);

const optionsSchema = z.object({
  /** K, how many symbols. */
  symbols: whole(50, 2, 100_000),
  /** L, steps of a walk. */
  length: whole(5, 1, 1000),
  /** Same seed, same symbols. */
  seed: whole(0, 0, Number.MAX_SAFE_INTEGER),
  /** Candidate walks a text, of which the posterior is made. */
  candidates: whole(4, 1, 1000),
  /** Rounds of spherical k-means that symbols are found by: they are clusters, which is what labels agree with. */
  clusterRounds: whole(12, 1),
  /** Starts of k-means of which the best is followed: one alone often merges two groups. */
  clusterStarts: whole(4, 1),
  /** Points among which k-means looks for its starts, or four a symbol if that is more: enough to see every group. */
  seedingPoints: whole(8000, 1),
  /** Nearest texts that each text is linked to before symbols are looked for. */
  neighbours: whole(15, 1),
  /** Texts whose graph of neighbours is made at the most; of more, so many are drawn, and symbols are found among these. */
  mostDiffused: whole(50_000, 1),
  /** Times that each text's point is averaged with those of its neighbours; 0: points as they are. */
  diffusionSteps: whole(12, 0),
  /** A symbol that comes first in fewer texts, or in fewer than a quarter of its even part, starts again at a text far from its own symbol. */
  fewestTexts: whole(5, 0),
  /** Links that each symbol keeps whatever the others do: with fewer, walks run into the same few ends. At most a third of the other symbols unless given. */
  exits: whole(10, 0),
  /** Whether walks name only symbols that stand out, and may end before their last step. */
  stays: z.boolean().default(true),
  /** κ_1: nats for a first step that explains all of a point. */
  firstSharpness: positive(800),
  /** κ of later steps, likewise. */
  sharpness: positive(800),
  /** Beta prior of the link probability: one link seen for four that are missing. */
  densityPrior: z
    .tuple([positive(1), positive(4)])
    .readonly()
    .default([1, 4]),
  /** Share of all pairs that the evidence may link. */
  density: share(0.25),
  /** Share of false ones to accept among the symbols that walks name after the first (`fitCutoffs`). */
  falseDiscoveryRate: share(0.02),
});

export type DiscoveryOptions = z.output<typeof optionsSchema>;

export const discoveryDefaults: DiscoveryOptions = optionsSchema.parse({});

/** The defaults with what was given in their place; refuses what no fit can work with. */
export function discoveryOptions(chosen: Partial<DiscoveryOptions> = {}): DiscoveryOptions {
  const others = (chosen.symbols ?? discoveryDefaults.symbols) - 1;
  const exits = Math.min(discoveryDefaults.exits, Math.ceil(others / 3));
  const given: Record<string, unknown> = { exits, ...chosen };
  const { data: options, error } = optionsSchema.safeParse(given);
  if (error) {
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], given);
    throw new UserError(`${String(path[0])} ${message}, got ${got}`);
  }
  if (!options.stays && options.length > options.symbols)
    throw new UserError(
      `a walk of ${options.length} steps that never stays needs as many symbols, got ${options.symbols}; ask for more symbols or shorter walks`,
    );
  return options;
}
