import { openLanguage, openLanguageCorpus } from '@hidden-schema/hsn';
import {
  type EncodedCorpus,
  encodedCorpus,
  interpolateTexts,
  type LanguageRun,
  openEncoded,
  renameSymbol,
  runOf,
  type SymbolMeaning,
  sentenceAttention,
  storedMeanings,
  symbolMeanings,
  symbolNames,
} from '@hidden-schema/studies';
import type { TextCorpus } from '@hidden-schema/text';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { checkpointKey, checkSymbol } from './checkpoint-key.ts';
import { Fault } from './fault.ts';
import { readClosely } from './language-reading.ts';
import { LanguageView } from './language-view.ts';
import { Latest } from './latest.ts';
import type { TaskContext, TaskHandlers } from './tasks.ts';

const ALTERNATIVES = 3;
/** A link less probable than this is a missing one. */
const LINK = 0.5;
/** Sentences that are read while training goes on, and after it, unless more are stored. */
const FEW = 300;
const MANY = 5000;

interface Shown {
  run: LanguageRun;
  /** None where its files are gone; what was stored with the run is shown then. */
  corpus: TextCorpus | undefined;
  encoded: EncodedCorpus;
  view: LanguageView;
  notes: string[];
}

/** A run of a language model, in the worker: what the page asks is answered here. */
export class LanguageAnswers implements TaskHandlers {
  readonly #directory: string;
  readonly #say: (text: string) => void;
  readonly #latest: Latest<Shown>;

  constructor(directory: string, say: (text: string) => void) {
    this.#directory = directory;
    this.#say = say;
    this.#latest = new Latest({
      key: () => checkpointKey(directory),
      open: () => this.#open(),
      close,
    });
  }

  async opened(): Promise<Opened> {
    const { run, corpus, encoded, notes } = await this.#latest.current();
    const { record } = run.run;
    const count = (split: 'train' | 'valid' | 'test') => corpus?.splits[split].length ?? 0;
    return {
      step: run.step,
      symbols: run.symbols,
      corpus: {
        directory: record.corpus.directory,
        fingerprint: record.corpus.fingerprint,
        vocabulary: run.tokenizers.decoder.vocabulary,
        length: null,
        sentences: { train: count('train'), valid: count('valid'), test: count('test') },
      },
      walk: run.length,
      labels: [...encoded.labels],
      relations: [],
      notes,
      features: [
        ...['encode', 'write', 'interpolate', 'attention', 'nearest', 'encoded'],
        ...(encoded.labels.length > 1 ? ['labels'] : []),
        ...(corpus ? ['samples'] : []),
      ],
    };
  }

  async graph(): Promise<Answer<'graph'>> {
    return (await this.#latest.current()).view.graph(symbolNames(this.#directory));
  }

  async symbol({ k }: Input<'symbol'>): Promise<Answer<'symbol'>> {
    const { view, run } = await this.#latest.current();
    checkSymbol(k, run.symbols);
    return view.symbol(k, symbolNames(this.#directory));
  }

  async rename({ k, name }: Input<'rename'>): Promise<Answer<'rename'>> {
    checkSymbol(k, (await this.#latest.current()).run.symbols);
    return { symbol: k, name: renameSymbol(this.#directory, k, name) };
  }

  async encode({ text }: Input<'encode'>): Promise<Answer<'encode'>> {
    const { view, run } = await this.#latest.current();
    if (text.trim() === '') throw new Fault(400, 'bad_request', 'there is no sentence to read');
    const { steps, logProbability, tokens, cut } = await readClosely(run.texts, text, ALTERNATIVES);
    const names = symbolNames(this.#directory);
    const named = <T extends { symbol: number }>(of: T) => ({ ...of, name: names.get(of.symbol) ?? null });
    const walk = steps.map((step, i) => ({
      ...named(step),
      alternatives: step.alternatives.map(named),
      token: null,
      link: i === 0 ? null : view.link(steps[i - 1]!.symbol, step.symbol),
    }));
    return {
      step: view.step,
      tokens: tokens.map((piece) => ({ text: piece, known: true })),
      unknown: [],
      problem: null,
      cut,
      walk: { steps: walk, logProbability: Number.isFinite(logProbability) ? logProbability : null },
    };
  }

  async generate(input: Input<'generate'>, context: TaskContext): Promise<Answer<'generate'>> {
    const { walk, force, topK, topP, repetitionPenalty, ...plain } = input;
    const { view, run } = await this.#latest.current();
    for (const k of walk) checkSymbol(k, run.symbols);
    const links = walk.slice(1).map((to, i) => view.link(walk[i]!, to));
    const missing = links.findIndex((p) => p < LINK);
    if (missing >= 0 && !force)
      throw new Fault(
        409,
        'missing_link',
        `the walk steps from ${walk[missing]} to ${walk[missing + 1]}, where there is no link (probability ${links[missing]!.toFixed(2)}); send force: true to write all the same`,
      );
    const written = await run.texts.write(walk, {
      ...{ count: plain.count, temperature: plain.temperature, seed: plain.seed, maxTokens: plain.maxTokens },
      ...(topK === undefined ? {} : { topK }),
      ...(topP === undefined ? {} : { topP }),
      ...(repetitionPenalty === undefined ? {} : { repetitionPenalty }),
      ...context,
    });
    return { step: view.step, samples: written.map((text) => ({ text })), links };
  }

  async attention({ text, layer, head }: Input<'attention'>): Promise<Answer<'attention'>> {
    const { run } = await this.#latest.current();
    const { tokens, walk, layers, heads, weights } = await sentenceAttention(run, text);
    if ((layer ?? 0) >= layers || (head ?? 0) >= heads)
      throw new Fault(400, 'bad_request', `layers are 0 to ${layers - 1} and heads 0 to ${heads - 1}`);
    const chosen = { layers: range(layers, layer), heads: range(heads, head) };
    const count = chosen.layers.length * chosen.heads.length;
    const mean = tokens.map((_, t) =>
      walk.map((__, i) => {
        const at = (l: number, h: number) =>
          weights[((l * heads + h) * tokens.length + t) * walk.length + i]!;
        const all = chosen.layers.flatMap((l) => chosen.heads.map((h) => at(l, h)));
        return all.reduce((sum, weight) => sum + weight, 0) / count;
      }),
    );
    return { step: run.step, tokens, walk, layers, heads, weights: mean };
  }

  async nearest(input: Input<'nearest'>): Promise<Answer<'nearest'>> {
    return (await this.#latest.current()).view.nearest(input);
  }

  async labels(): Promise<Answer<'labels'>> {
    return (await this.#latest.current()).view.labels();
  }

  async encoded(input: Input<'encoded'>): Promise<Answer<'encoded'>> {
    return (await this.#latest.current()).view.encoded(input);
  }

  async interpolate(
    { from, to, variant }: Input<'interpolate'>,
    context: TaskContext,
  ): Promise<Answer<'interpolate'>> {
    const { run } = await this.#latest.current();
    const found = await interpolateTexts(run, from, to, { variant, write: { ...context } });
    const { first, second, path, steps, unreachable } = found;
    return {
      ...{ step: run.step, variant, path, steps, unreachable },
      from: { text: from, walk: first.walk },
      to: { text: to, walk: second.walk },
    };
  }

  async samples({ limit }: Input<'samples'>, context: TaskContext): Promise<Answer<'samples'>> {
    const { run, corpus } = await this.#latest.current();
    const rows = [...(corpus?.splits.valid.slice(0, limit) ?? [])];
    const texts = rows.map((row) => corpus!.store.example(row).text);
    const { walks } = await run.texts.read(texts);
    const samples: Answer<'samples'>['samples'] = [];
    for (const [at, { walk }] of walks.entries()) {
      if (context.signal.aborted) break;
      const [written] = await run.texts.write(walk, { ...context });
      samples.push({ text: texts[at]!, walk, written: written! });
    }
    return { step: run.step, samples };
  }

  async sentences({ split, offset, limit }: Input<'sentences'>): Promise<Answer<'sentences'>> {
    const { corpus } = await this.#latest.current();
    const rows = corpus?.splits[split] ?? new Int32Array();
    const sentences = Array.from(rows.subarray(offset, offset + limit), (row, at) => {
      const { text, label } = corpus!.store.example(row);
      return { index: offset + at, text, label: label ?? null, walk: null };
    });
    return { split, offset, total: rows.length, sentences };
  }

  async #open(): Promise<Shown> {
    this.#say('opening the model');
    const opened = await openLanguage(this.#directory);
    const run = runOf(opened) as LanguageRun;
    if (opened.config.baseline) {
      opened.model.free();
      throw new Fault(
        409,
        'baseline',
        'this run is a baseline: a decoder without symbols, and so without a graph',
      );
    }
    try {
      const notes = [...opened.notes];
      const corpus = await this.#corpus(opened, notes);
      const encoded = await this.#encoded(run);
      const view = new LanguageView(run, encoded, await this.#meanings(run, encoded));
      return { run, corpus, encoded, view, notes };
    } catch (error) {
      opened.model.free();
      throw error;
    }
  }

  /** Training keeps the machine busy and goes on to the next checkpoint soon: few sentences are read meanwhile. */
  async #encoded(run: LanguageRun): Promise<EncodedCorpus> {
    const limit = run.run.state === 'running' ? FEW : MANY;
    try {
      return await encodedCorpus(run, {
        limit,
        onProgress: (done, total) => this.#say(`reading sentences: ${done} of ${total}`),
      });
    } catch (error) {
      // Where the corpus is gone, what is stored with the run has to do.
      const stored = openEncoded(run);
      if (!stored) throw error;
      return stored;
    }
  }

  async #meanings(run: LanguageRun, encoded: EncodedCorpus): Promise<SymbolMeaning[]> {
    this.#say('finding what symbols mean');
    if (run.run.state === 'running') return symbolMeanings(run, encoded);
    return storedMeanings(run, {
      encoded,
      onProgress: (done, total) => this.#say(`reading attention: ${done} of ${total} sentences`),
    });
  }

  async #corpus(opened: LanguageRun['opened'], notes: string[]): Promise<TextCorpus | undefined> {
    try {
      return await openLanguageCorpus(opened, {
        onProgress: () => this.#say('opening the corpus'),
      });
    } catch (error) {
      notes.push((error as Error).message);
      return undefined;
    }
  }
}

function close({ run, corpus, encoded }: Shown): void {
  run.model.free();
  corpus?.close();
  encoded.close();
}

const range = (count: number, one: number | undefined): number[] =>
  one === undefined ? Array.from({ length: count }, (_, at) => at) : [one];
