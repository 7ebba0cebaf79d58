import {
  type OpenedModel,
  openModel,
  type SyntheticCorpus,
  type SyntheticNetwork,
  type WalkableGraph,
} from '@hidden-schema/hsn';
import { renameSymbol, symbolNames } from '@hidden-schema/studies';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { checkpointKey, checkSymbol, FRESH } from './checkpoint-key.ts';
import { expectedGraph, freeGraph, readWalk } from './synthetic-reading.ts';
import { View } from './synthetic-view.ts';
import type { TaskHandlers } from './tasks.ts';

const ALTERNATIVES = 3;

interface Shown {
  /** The checkpoint that was the best when this was opened. */
  key: string;
  model: SyntheticNetwork;
  graph: WalkableGraph;
  corpus: SyntheticCorpus;
  /** Token → number. */
  numbers: ReadonlyMap<string, number>;
  view: View;
  notes: string[];
}

/** A run of a synthetic language with its model, in the worker: what the page asks is answered here. */
export class SyntheticAnswers implements TaskHandlers {
  readonly #directory: string;
  #shown: Shown | undefined;
  #checked = Number.NEGATIVE_INFINITY;

  constructor(directory: string) {
    this.#directory = directory;
  }

  opened(): Opened {
    const { view, model, corpus, notes } = this.#current();
    const { train, valid, test } = corpus.splits;
    return {
      step: view.step,
      symbols: model.shape.symbols,
      corpus: {
        directory: corpus.directory,
        fingerprint: corpus.fingerprint,
        vocabulary: corpus.vocabulary.length,
        length: corpus.length,
        sentences: { train: train.count, valid: valid.count, test: test.count },
      },
      walk: model.shape.length,
      labels: [],
      relations: [],
      notes,
      features: ['encode', ...(corpus.truth ? ['truth'] : [])],
    };
  }

  graph(): Answer<'graph'> {
    return this.#current().view.graph(symbolNames(this.#directory));
  }

  symbol({ k }: Input<'symbol'>): Answer<'symbol'> {
    const { view, model } = this.#current();
    checkSymbol(k, model.shape.symbols);
    return view.symbol(k, symbolNames(this.#directory));
  }

  rename({ k, name }: Input<'rename'>): Answer<'rename'> {
    checkSymbol(k, this.#current().model.shape.symbols);
    return { symbol: k, name: renameSymbol(this.#directory, k, name) };
  }

  encode({ text }: Input<'encode'>): Answer<'encode'> {
    const { view, model, graph, corpus, numbers } = this.#current();
    const words = text.split(/\s+/u).filter((word) => word !== '');
    const tokens = words.map((word) => ({ text: word, known: numbers.has(word) }));
    const unknown = [...new Set(tokens.filter(({ known }) => !known).map((token) => token.text))];
    const problem = problemOf(words.length, unknown, corpus.length);
    if (problem !== null) return { step: view.step, tokens, unknown, problem, cut: false, walk: null };
    const ids = Int32Array.from(words, (word) => numbers.get(word)!);
    const { steps, logProbability } = readWalk(model, graph, ids, ALTERNATIVES);
    const names = symbolNames(this.#directory);
    const named = <T extends { symbol: number }>(of: T) => ({ ...of, name: names.get(of.symbol) ?? null });
    const paired = model.config.encoder.readout === 'position';
    const walk = steps.map((step, i) => ({
      ...named(step),
      alternatives: step.alternatives.map(named),
      token: paired ? words[i]! : null,
      link: i === 0 ? null : view.link(steps[i - 1]!.symbol, step.symbol),
    }));
    const finite = Number.isFinite(logProbability) ? logProbability : null;
    const found = { steps: walk, logProbability: finite };
    return { step: view.step, tokens, unknown, problem, cut: false, walk: found };
  }

  sentences({ split, offset, limit }: Input<'sentences'>): Answer<'sentences'> {
    const { splits, length: L, vocabulary } = this.#current().corpus;
    const { tokens, walks, count } = splits[split];
    const rows = Math.max(0, Math.min(limit, count - offset));
    const row = (of: Int32Array, n: number) => Array.from(of.subarray(n * L, (n + 1) * L));
    const sentences = Array.from({ length: rows }, (_, at) => ({
      index: offset + at,
      text: row(tokens, offset + at)
        .map((token) => vocabulary[token]!)
        .join(' '),
      label: null,
      walk: walks ? row(walks, offset + at) : null,
    }));
    return { split, offset, total: count, sentences };
  }

  /** What is open now; opened anew when training has written a better checkpoint. */
  #current(): Shown {
    const now = performance.now();
    if (this.#shown && now - this.#checked < FRESH) return this.#shown;
    this.#checked = now;
    const key = checkpointKey(this.#directory);
    if (this.#shown?.key === key) return this.#shown;
    return this.#open(key);
  }

  #open(key: string): Shown {
    const before = this.#shown;
    let opened: OpenedModel;
    try {
      opened = openModel(this.#directory);
    } catch (error) {
      // Training may remove a checkpoint while it is read; the next look finds a newer one.
      if (before) return before;
      throw error;
    }
    const { model, corpus, notes } = opened;
    const graph = expectedGraph(model);
    const view = new View(opened, graph);
    const numbers = new Map(corpus.vocabulary.map((token, number) => [token, number]));
    this.#shown = { key, model, graph, corpus, numbers, view, notes: [...corpus.notes, ...notes] };
    before?.model.free();
    if (before) freeGraph(before.graph);
    return this.#shown;
  }
}

function problemOf(words: number, unknown: readonly string[], length: number): string | null {
  const some = unknown.slice(0, 5).map((token) => `“${token}”`);
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : '';
  const faults = [
    ...(words === length ? [] : [`This run reads sentences of ${length} tokens; this one has ${words}.`]),
    ...(unknown.length === 0 ? [] : [`Not in the vocabulary: ${some.join(', ')}${more}.`]),
  ];
  return faults.length === 0 ? null : faults.join(' ');
}
