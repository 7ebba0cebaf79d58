import { LIKELY_LINK, pathKinds, relationMeaning } from '@hidden-schema/hsn';
import {
  explainedCandidates,
  interpolateTexts,
  mergeSymbols,
  namedSymbols,
  renameSymbol,
  runEdits,
  type SymbolEdit,
  sentenceAttention,
  splitSymbol,
  symbolLevels,
  symbolNames,
  undoEdit,
} from '@hidden-schema/studies';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { checkpointKey, checkSymbol } from './checkpoint-key.ts';
import { clamp } from './close-reading.ts';
import { compareAnswer, timeAnswer } from './comparison-answers.ts';
import { Fault } from './fault.ts';
import { featuresOf } from './features.ts';
import { Latest } from './latest.ts';
import { type Abilities, openShown, type Shown } from './shown.ts';
import type { TaskContext, TaskHandlers } from './tasks.ts';
import { mapAnswer, textsAt, textsWith } from './text-answers.ts';

const ALTERNATIVES = 3;
/** Traversed links of a label that are sent. */
const MOST_TRAVERSED = 3000;

/** A run of any kind with its model, in the worker: what the page asks is answered here. */
export class Answers implements TaskHandlers {
  readonly #directory: string;
  readonly #latest: Latest<Shown>;
  readonly #say: (text: string) => void;

  /** `say` is told what takes time. */
  constructor(directory: string, say: (text: string) => void) {
    this.#directory = directory;
    this.#say = say;
    this.#latest = new Latest({
      key: () => `${checkpointKey(directory)} ${pathKinds(directory).join()}`,
      open: () => openShown(directory, say),
      close: (shown) => shown.close(),
    });
  }

  async opened(): Promise<Opened> {
    const shown = await this.#latest.current();
    const { run, corpus, notes } = shown;
    return {
      ...{ step: run.step, symbols: run.symbols, corpus, walk: run.length, notes },
      ...{ identity: run.run.identity, edits: editsOf(this.#directory) },
      labels: [...(shown.encoded?.labels ?? run.labels)],
      relations: (shown.relations ?? []).map((name) => ({ name, meaning: relationMeaning(name) })),
      features: featuresOf(shown),
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
    const before = namedSymbols(this.#directory).get(k) ?? null;
    return { symbol: k, name: renameSymbol(this.#directory, k, name), before };
  }

  async levels({ counts }: Input<'levels'>): Promise<Answer<'levels'>> {
    const { run } = await this.#having('levels');
    const { symbols, levels } = await symbolLevels(run, counts);
    const shown = levels.map(({ count, groups }) => ({
      count,
      groups: groups.map(({ parent: _, ...group }) => ({ ...group, share: clamp(group.share) })),
    }));
    return { step: run.step, symbols, levels: shown };
  }

  async merge({ symbols }: Input<'merge'>, { signal }: TaskContext): Promise<Answer<'merge'>> {
    const { run } = await this.#having('levels');
    for (const k of symbols) checkSymbol(k, run.symbols);
    this.#say(`merging ${symbols.length} symbols`);
    return this.#edited(await mergeSymbols(this.#directory, symbols, { signal }));
  }

  async split({ k }: Input<'split'>, { signal }: TaskContext): Promise<Answer<'split'>> {
    checkSymbol(k, (await this.#having('levels')).run.symbols);
    this.#say('splitting the symbol');
    return this.#edited(await splitSymbol(this.#directory, k, { signal }));
  }

  async undo(): Promise<Answer<'undo'>> {
    await this.#having('levels');
    const { undone } = undoEdit(this.#directory);
    return this.#edited({ what: `undone: ${undone}`, changed: [], renumbered: [] });
  }

  /** What is shown is the run as it is from now on. */
  async #edited({ what, changed, renumbered }: Edit): Promise<Answer<'merge'>> {
    this.#latest.changed();
    const { run } = await this.#latest.current();
    return {
      ...{ what, symbols: run.symbols, identity: run.run.identity, edits: editsOf(this.#directory) },
      changed: [...changed],
      renumbered: renumbered.map(([before, now]): [number, number] => [before, now]),
    };
  }

  async encode({ text }: Input<'encode'>): Promise<Answer<'encode'>> {
    const { view, reader } = await this.#having('reader');
    const { walk, paired, ...read } = await reader(text, ALTERNATIVES);
    if (walk === null) return { step: view.step, ...read, walk };
    const names = symbolNames(this.#directory);
    const named = <T extends { symbol: number }>(of: T) => ({ ...of, name: names.get(of.symbol) ?? null });
    const steps = walk.steps.map((step, i) => ({
      ...named(step),
      alternatives: step.alternatives.map(named),
      token: paired ? read.tokens[i]!.text : null,
      link: i === 0 ? null : view.link(walk.steps[i - 1]!.symbol, step.symbol),
    }));
    const logProbability = Number.isFinite(walk.logProbability) ? walk.logProbability : null;
    return { step: view.step, ...read, walk: { steps, logProbability } };
  }

  async generate(input: Input<'generate'>, context: TaskContext): Promise<Answer<'generate'>> {
    const { run: _, walk, force, topK, topP, repetitionPenalty, ...plain } = input;
    const { view, writer } = await this.#having('writer');
    for (const k of walk) checkSymbol(k, writer.symbols);
    const links = walk.slice(1).map((to, i) => view.link(walk[i]!, to));
    const missing = links.findIndex((p) => p < LIKELY_LINK);
    if (missing >= 0 && !force)
      throw new Fault(
        409,
        'missing_link',
        `the walk steps from ${walk[missing]} to ${walk[missing + 1]}, where there is no link (probability ${links[missing]!.toFixed(2)}); send force: true to write all the same`,
      );
    const written = await writer.texts.write(walk, {
      ...plain,
      ...(topK === undefined ? {} : { topK }),
      ...(topP === undefined ? {} : { topP }),
      ...(repetitionPenalty === undefined ? {} : { repetitionPenalty }),
      ...context,
    });
    return { step: view.step, samples: written.map((text) => ({ text })), links };
  }

  async attention({ text, layer, head }: Input<'attention'>): Promise<Answer<'attention'>> {
    const { writer } = await this.#having('writer');
    const { tokens, walk, layers, heads, weights } = await sentenceAttention(writer, text);
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
    return { step: writer.step, tokens, walk, layers, heads, weights: mean };
  }

  async nearest({ walk, limit }: Input<'nearest'>): Promise<Answer<'nearest'>> {
    const { run, encoded } = await this.#having('encoded');
    const found = encoded.nearest(walk, { limit });
    const sentences = found.map(({ sentence, shared, common }) => ({ ...sentence, shared, common }));
    return { step: run.step, encoded: encoded.count, sentences };
  }

  async labels(): Promise<Answer<'labels'>> {
    const { run, labelMaps } = await this.#having('labelMaps');
    const { all, maps, divergence, edgeDivergence: linkDivergence } = labelMaps();
    const shown = maps.map(({ label, sentences, nodes, edges, typical }) => ({
      ...{ label, sentences, typical, nodes: Array.from(nodes, clamp) },
      links: edges
        .slice(0, MOST_TRAVERSED)
        .map(({ i, j, share }): [number, number, number] => [i, j, clamp(share)]),
    }));
    return { step: run.step, encoded: all.sentences, maps: shown, divergence, linkDivergence };
  }

  async encoded({ offset, limit, symbol, label }: Input<'encoded'>): Promise<Answer<'encoded'>> {
    const { run, encoded } = await this.#having('encoded');
    const of = { ...(symbol === undefined ? {} : { symbol }), ...(label === undefined ? {} : { label }) };
    const { total, sentences } = encoded.page(offset, limit, of);
    const { count, total: corpus } = encoded;
    return { step: run.step, offset, total, encoded: count, corpus, sentences };
  }

  async map(): Promise<Answer<'map'>> {
    const { run, encoded, textPlaces, times } = await this.#having('encoded', 'textPlaces');
    return mapAnswer({ step: run.step, encoded, places: textPlaces(), times: times?.times ?? null });
  }

  async compare(input: Input<'compare'>): Promise<Answer<'compare'>> {
    const { run, encoded } = await this.#having('encoded');
    return compareAnswer(run.step, encoded, input);
  }

  async time({ period }: Input<'time'>): Promise<Answer<'time'>> {
    const { run, encoded, times } = await this.#having('encoded', 'times');
    return timeAnswer(run.step, { encoded, ...times }, period);
  }

  async texts({ at }: Input<'texts'>): Promise<Answer<'texts'>> {
    const { run, encoded } = await this.#having('encoded');
    return { step: run.step, texts: textsAt(encoded, at) };
  }

  async matches({ words }: Input<'matches'>): Promise<Answer<'matches'>> {
    const { run, encoded } = await this.#having('encoded');
    return { step: run.step, ...textsWith(encoded, words) };
  }

  async interpolate(
    { from, to, variant }: Input<'interpolate'>,
    context: TaskContext,
  ): Promise<Answer<'interpolate'>> {
    const { writer } = await this.#having('writer');
    const found = await interpolateTexts(writer, from, to, { variant, write: { ...context } });
    const { first, second, path, steps, unreachable } = found;
    return {
      ...{ step: writer.step, variant, path, steps, unreachable },
      from: { text: from, walk: first.walk },
      to: { text: to, walk: second.walk },
    };
  }

  async samples({ limit }: Input<'samples'>, context: TaskContext): Promise<Answer<'samples'>> {
    const { writer, sentences } = await this.#having('writer', 'sentences');
    const count = Math.min(limit, sentences.counts.valid);
    const texts = Array.from({ length: count }, (_, at) => sentences.sentence('valid', at).text);
    const { walks } = await writer.texts.read(texts);
    const samples: Answer<'samples'>['samples'] = [];
    for (const [at, { walk }] of walks.entries()) {
      if (context.signal.aborted) break;
      const [written] = await writer.texts.write(walk, { ...context });
      samples.push({ text: texts[at]!, walk, written: written! });
    }
    return { step: writer.step, samples };
  }

  async sentences({ split, offset, limit }: Input<'sentences'>): Promise<Answer<'sentences'>> {
    const { sentences: corpus } = await this.#having('sentences');
    const total = corpus.counts[split];
    const sentences = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) => {
      const { text, label, walk = null } = corpus.sentence(split, offset + at);
      return { index: offset + at, text, label: corpus.labels[label] ?? null, walk };
    });
    return { split, offset, total, sentences };
  }

  async reason(input: Input<'reason'>, { signal }: TaskContext): Promise<Answer<'reason'>> {
    const { run, reasoner: reasons } = await this.#having('reasoner');
    const { reasoner } = reasons;
    const { event, count, along } = input;
    const results: Answer<'reason'>['results'] = [];
    for (const relation of input.relations.length > 0 ? input.relations : reasoner.relations) {
      if (signal.aborted) break;
      const found = await explainedCandidates(reasons, { event, relation }, { count, along });
      const candidates = found.map(({ words, like = [], ...one }) => ({
        ...one,
        words: words ? words.map((some) => [...some]) : null,
        like,
      }));
      results.push({ relation, meaning: relationMeaning(relation), candidates });
    }
    return { step: run.step, event, path: reasoner.kind, results };
  }

  /** What is shown, with abilities that a request needs; a run that lacks one refuses here. */
  async #having<A extends keyof Abilities>(...needed: A[]): Promise<Shown & Pick<Abilities, A>> {
    const shown = await this.#latest.current();
    const lacking = needed.find((ability) => shown[ability] === undefined);
    if (lacking === undefined) return shown as Shown & Pick<Abilities, A>;
    if (lacking === 'reasoner' && shown.relations)
      throw new Fault(409, 'not_yet', 'this run has no path model yet; hsn reason train makes one');
    throw new Fault(404, 'not_offered', 'this kind of run does not offer that');
  }
}

type Edit = Pick<SymbolEdit, 'what' | 'changed' | 'renumbered'>;

const editsOf = (directory: string): string[] => runEdits(directory).map(({ what }) => what);

const range = (count: number, one: number | undefined): number[] =>
  one === undefined ? Array.from({ length: count }, (_, at) => at) : [one];
