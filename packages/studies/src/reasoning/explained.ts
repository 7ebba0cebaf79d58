import type { OpenedReasoning } from '@hidden-schema/hsn/tasks/tuples/open';
import {
  type Candidate,
  type CandidateOptions,
  openTrainedWalks,
  type Reasoner,
} from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import { type LikeTuple, WalkExplainer } from './explanation.ts';

/** An object with what its walk says, where training walks are known. */
export interface ExplainedCandidate extends Candidate {
  /** The words that tell most of each step's symbol. */
  words?: readonly (readonly string[])[];
  /** Training tuples that walk most like it. */
  like?: LikeTuple[];
}

export interface ExplainedOptions extends Omit<CandidateOptions, 'count' | 'words'> {
  /** Different objects, at most: 5 unless given. */
  count?: number;
  /** Walks to write them from; as many as objects unless given. */
  walks?: number;
}

const defaultCount = 5;

/** What tells walks in words; nothing where the run has not counted its training walks. */
export function explainerOf(opened: OpenedReasoning): WalkExplainer | undefined {
  const trained = openTrainedWalks(opened);
  // Walks and texts are read from here on, events as vectors are not.
  trained?.free();
  return trained && new WalkExplainer(trained, opened.config.symbols);
}

/** Different objects that may follow an event by a relation, each with its walk in words and what it is like. */
export async function explainedCandidates(
  { reasoner, explainer }: { reasoner: Reasoner; explainer?: WalkExplainer | undefined },
  { event, relation }: { event: string; relation: string },
  { count = defaultCount, walks = count, ...options }: ExplainedOptions = {},
): Promise<ExplainedCandidate[]> {
  const { how = 'beam', temperature = 0 } = options;
  const found = await reasoner.candidates(event, relation, {
    ...options,
    ...(how === 'greedy' ? {} : { count: walks }),
    // Words that are not drawn are searched for as widely as walks.
    ...(how === 'beam' && temperature === 0 ? { words: { how, count } } : {}),
  });
  const number = reasoner.relations.indexOf(relation);
  return found.slice(0, count).map((one) => {
    if (!explainer) return one;
    const words = one.walk.map((symbol) => explainer.words(symbol));
    return { ...one, words, like: explainer.nearest(one.walk, number) };
  });
}
