import { UserError } from '@hidden-schema/base';

export interface DiscoveryOptions {
  /** K, how many symbols. */
  symbols: number;
  /** L, steps of a walk. */
  length: number;
  /** Same seed, same symbols. */
  seed: number;
  /** Rounds of spherical k-means that symbols are found by: they are clusters, which is what labels agree with. */
  clusterRounds: number;
  /** Starts of k-means of which the best is followed: one alone often merges two groups. */
  clusterStarts: number;
  /** Points among which k-means looks for its starts, or four a symbol if that is more: enough to see every group. */
  seedingPoints: number;
  /** Nearest texts that each text is linked to before symbols are looked for. */
  neighbours: number;
  /** Times that each text's point is averaged with those of its neighbours; 0: points as they are. */
  diffusionSteps: number;
  /** Texts whose graph of neighbours is made at the most; of more, so many are drawn, and symbols are found among these. */
  mostDiffused: number;
  /** Share of false ones to accept among the symbols that walks name after the first (`fitCutoffs`). */
  falseDiscoveryRate: number;
  /** Whether walks name only symbols that stand out, and may end before their last step. */
  stays: boolean;
  /** A symbol that comes first in fewer texts, or in fewer than a quarter of its even part, starts again at a text far from its own symbol. */
  fewestTexts: number;
  /** κ_1: nats for a first step that explains all of a point. */
  firstSharpness: number;
  /** κ of later steps, likewise. */
  sharpness: number;
  /** Share of all pairs that the evidence may link. */
  density: number;
  /** Links that each symbol keeps whatever the others do: with fewer, walks run into the same few ends. At most a third of the other symbols unless given. */
  exits: number;
  /** Beta prior of the link probability: one link seen for four that are missing. */
  densityPrior: readonly [number, number];
  /** Candidate walks a text, of which the posterior is made. */
  candidates: number;
}

export const discoveryDefaults: DiscoveryOptions = {
  symbols: 50,
  length: 5,
  seed: 0,
  clusterRounds: 12,
  clusterStarts: 4,
  seedingPoints: 8000,
  neighbours: 15,
  diffusionSteps: 12,
  mostDiffused: 50_000,
  falseDiscoveryRate: 0.02,
  stays: true,
  fewestTexts: 5,
  firstSharpness: 800,
  sharpness: 800,
  density: 0.25,
  exits: 10,
  densityPrior: [1, 4],
  candidates: 4,
};

/** The least and the largest whole number that each of these may be, in the order in which they are checked. */
const wholes = {
  symbols: [2, 100_000],
  length: [1, 1000],
  seed: [0, Number.MAX_SAFE_INTEGER],
  candidates: [1, 1000],
  clusterRounds: [1, 1_000_000],
  clusterStarts: [1, 1_000_000],
  seedingPoints: [1, 1_000_000],
  neighbours: [1, 1_000_000],
  mostDiffused: [1, 1_000_000],
  diffusionSteps: [0, 1_000_000],
  fewestTexts: [0, 1_000_000],
  exits: [0, 1_000_000],
} as const satisfies Partial<Record<keyof DiscoveryOptions, readonly [number, number]>>;

/** The defaults with what was given in their place; refuses what no fit can work with. */
export function discoveryOptions(chosen: Partial<DiscoveryOptions> = {}): DiscoveryOptions {
  const others = (chosen.symbols ?? discoveryDefaults.symbols) - 1;
  const exits = Math.min(discoveryDefaults.exits, Math.ceil(others / 3));
  const options = { ...discoveryDefaults, exits, ...chosen };
  for (const name of Object.keys(wholes) as (keyof typeof wholes)[]) {
    const [value, [least, largest]] = [options[name], wholes[name]];
    if (!Number.isSafeInteger(value) || value < least || value > largest)
      throw new UserError(`${name} is a whole number from ${least} to ${largest}, got ${value}`);
  }
  for (const name of ['firstSharpness', 'sharpness'] as const) positive(name, options[name]);
  for (const parameter of options.densityPrior) positive('densityPrior', parameter);
  for (const name of ['density', 'falseDiscoveryRate'] as const)
    if (!(options[name] > 0 && options[name] <= 1))
      throw new UserError(`${name} lies above 0 and at most at 1, got ${options[name]}`);
  if (!options.stays && options.length > options.symbols)
    throw new UserError(
      `a walk of ${options.length} steps that never stays needs as many symbols, got ${options.symbols}; ask for more symbols or shorter walks`,
    );
  return options;
}

function positive(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new UserError(`${name} is a number above 0, got ${value}`);
}
