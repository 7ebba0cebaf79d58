import {
  bestStep,
  checkpointSteps,
  type HiddenSchemaNetwork,
  type OpenedModel,
  openModel,
  Run,
  type SyntheticCorpus,
  type WalkableGraph,
} from '@hidden-schema/hsn';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { Fault } from './fault.ts';
import { Names } from './names.ts';
import { expectedGraph, freeGraph, readWalk } from './reading.ts';
import { View } from './view.ts';

const ALTERNATIVES = 3;
/** Milliseconds for which the folder is not looked at again. */
const FRESH = 1000;

interface Shown {
  /** The checkpoint that was the best when this was opened. */
  key: string;
  model: HiddenSchemaNetwork;
  graph: WalkableGraph;
  corpus: SyntheticCorpus;
  /** Token → number. */
  numbers: ReadonlyMap<string, number>;
  view: View;
  notes: string[];
}

/** A run with its model, in the worker: what the page asks is answered here. */
export class OpenedRun {
  readonly #directory: string;
  readonly #names: Names;
  #shown: Shown | undefined;
  #checked = Number.NEGATIVE_INFINITY;

  constructor(directory: string) {
    this.#directory = directory;
    this.#names = new Names(directory);
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
      notes,
      features: ['encode', ...(corpus.truth ? ['truth'] : [])],
    };
  }

  graph(): Answer<'graph'> {
    return this.#current().view.graph(this.#names.all());
  }

  symbol({ k }: Input<'symbol'>): Answer<'symbol'> {
    const { view, model } = this.#current();
    checkSymbol(k, model);
    return view.symbol(k, this.#names.all());
  }

  rename({ k, name }: Input<'rename'>): Answer<'rename'> {
    checkSymbol(k, this.#current().model);
    return { symbol: k, name: this.#names.set(k, name) };
  }

  encode({ text }: Input<'encode'>): Answer<'encode'> {
    const { view, model, graph, corpus, numbers } = this.#current();
    const words = text.split(/\s+/u).filter((word) => word !== '');
    const tokens = words.map((word) => ({ text: word, known: numbers.has(word) }));
    const unknown = [...new Set(tokens.filter(({ known }) => !known).map((token) => token.text))];
    const problem = problemOf(words.length, unknown, corpus.length);
    if (problem !== null) return { step: view.step, tokens, unknown, problem, walk: null };
    const ids = Int32Array.from(words, (word) => numbers.get(word)!);
    const { steps, logProbability } = readWalk(model, graph, ids, ALTERNATIVES);
    const names = this.#names.all();
    const named = <T extends { symbol: number }>(of: T) => ({ ...of, name: names.get(of.symbol) ?? null });
    const paired = model.config.encoder.readout === 'position';
    const walk = steps.map((step, i) => ({
      ...named(step),
      alternatives: step.alternatives.map(named),
      token: paired ? words[i]! : null,
      link: i === 0 ? null : view.link(steps[i - 1]!.symbol, step.symbol),
    }));
    const finite = Number.isFinite(logProbability) ? logProbability : null;
    return { step: view.step, tokens, unknown, problem, walk: { steps: walk, logProbability: finite } };
  }

  sentences({ split, offset, limit }: Input<'sentences'>): Answer<'sentences'> {
    const { splits, length: L, vocabulary } = this.#current().corpus;
    const { tokens, walks, count } = splits[split];
    const rows = Math.max(0, Math.min(limit, count - offset));
    const row = (of: Int32Array, n: number) => Array.from(of.subarray(n * L, (n + 1) * L));
    const sentences = Array.from({ length: rows }, (_, at) => ({
      index: offset + at,
      tokens: row(tokens, offset + at).map((token) => vocabulary[token]!),
      walk: walks ? row(walks, offset + at) : null,
    }));
    return { split, offset, total: count, sentences };
  }

  /** What is open now; opened anew when training has written a better checkpoint. */
  #current(): Shown {
    const now = performance.now();
    if (this.#shown && now - this.#checked < FRESH) return this.#shown;
    this.#checked = now;
    const run = Run.open(this.#directory);
    const steps = checkpointSteps(run);
    if (steps.length === 0 && run.state === 'running')
      throw new Fault(
        409,
        'not_yet',
        'training has not written a checkpoint yet; the graph appears with the first',
      );
    const key = `${run.record.created} ${bestStep(run) ?? steps.at(-1)}`;
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
    const view = new View(this.#directory, opened, graph);
    const numbers = new Map(corpus.vocabulary.map((token, number) => [token, number]));
    this.#shown = { key, model, graph, corpus, numbers, view, notes: [...corpus.notes, ...notes] };
    before?.model.free();
    if (before) freeGraph(before.graph);
    return this.#shown;
  }
}

function checkSymbol(k: number, model: HiddenSchemaNetwork): void {
  const last = model.shape.symbols - 1;
  if (k > last) throw new Fault(404, 'not_found', `there is no symbol ${k}; symbols are 0 to ${last}`);
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
