import { LIKELY_LINK } from '@hidden-schema/hsn/graph/likely';
import type { LanguageRun } from '@hidden-schema/hsn/open';
import { RunChanged } from '@hidden-schema/hsn/run/edit-record';
import { relationMeaning } from '@hidden-schema/hsn/tasks/tuples/relations';
import { loadAnalysis } from '@hidden-schema/studies/analyses';
import { explainText } from '@hidden-schema/studies/analyses/explain-text';
import { interpolateTexts } from '@hidden-schema/studies/analyses/interpolate-texts';
import { askAnalysis, RunSource } from '@hidden-schema/studies/analyses/source';
import { writingOf } from '@hidden-schema/studies/analyses/writing';
import { plainJson } from '@hidden-schema/studies/drawing/results';
import { reasonedCandidates } from '@hidden-schema/studies/reasoning/explained-mixture';
import { sentenceAttention } from '@hidden-schema/studies/symbols/attention';
import { symbolLevels } from '@hidden-schema/studies/symbols/levels';
import { symbolNames } from '@hidden-schema/studies/symbols/names';
import type { Answer, Input, Opened } from '../shared/api.ts';
import type { AnalysisTask } from './analyses.ts';
import { checkSymbol } from './checkpoint-key.ts';
import { clamp } from './close-reading.ts';
import { compareAnswer, timeAnswer } from './comparison-answers.ts';
import { EditAnswers, editsOf } from './edit-answers.ts';
import { Fault } from './fault.ts';
import { featuresOf } from './features.ts';
import { type Capabilities, type RunView, requireAbilities } from './shown.ts';
import type { TaskContext, TaskHandlers } from './tasks.ts';
import { mapAnswer, tablesText, textsAt, textsWith } from './text-answers.ts';

const ALTERNATIVES = 3;
const MOST_ATTEMPTS = 4;
/** Traversed links of a label that are sent. */
const MOST_TRAVERSED = 3000;

/** A run of any kind with its model, in the worker: what the page asks is answered here. */
export class Answers extends EditAnswers implements TaskHandlers {
  async opened(): Promise<Opened> {
    const shown = await this.latest.current();
    const { run, corpus, notes } = shown;
    return {
      ...{ step: run.step, symbols: run.symbols, corpus, walk: run.length, notes },
      ...{ identity: run.run.identity, edits: editsOf(this.directory) },
      labels: [...(shown.encoded?.labels ?? run.labels)],
      relations: (shown.relations ?? []).map((name) => ({ name, meaning: relationMeaning(name) })),
      features: featuresOf(shown),
    };
  }

  /** An analysis of the table, as the library and the command line answer it. */
  async analysis({ analysis: name, options, as }: AnalysisTask, context: TaskContext): Promise<unknown> {
    const analysis = await loadAnalysis(name);
    const progress = (stage: string, unit: string) => (done: number, total: number) =>
      this.say(`${stage}: ${done} of ${total} ${unit}`);
    return this.#unchanged(async ({ run, encoded }) => {
      const source = new RunSource(run, { ...context, progress, ...(encoded ? { encoded } : {}) });
      try {
        const result = await askAnalysis(analysis, source, options);
        if (as === 'tables') return tablesText(await analysis.tables(result, source));
        return JSON.parse(plainJson(result));
      } finally {
        source.close();
      }
    });
  }

  async graph(): Promise<Answer<'graph'>> {
    return this.#unchanged(({ view, run }) => ({
      identity: run.run.identity,
      ...view.graph(symbolNames(run.run)),
    }));
  }

  async symbol({ k }: Input<'symbol'>): Promise<Answer<'symbol'>> {
    return this.#unchanged(({ view, run }) => {
      checkSymbol(k, run.symbols);
      return { identity: run.run.identity, ...view.symbol(k, symbolNames(run.run)) };
    });
  }

  /** An answer of the run as it is now: one whose symbols were edited since it was opened is opened again. */
  async #unchanged<T>(answer: (shown: RunView) => T | Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const shown = await this.latest.current();
      try {
        return await answer(shown);
      } catch (error) {
        if (!(error instanceof RunChanged) || attempt >= MOST_ATTEMPTS) throw error;
        this.latest.changed();
      }
    }
  }

  async levels({ counts }: Input<'levels'>): Promise<Answer<'levels'>> {
    const { run } = await this.#having('levels');
    const { symbols, levels } = await symbolLevels(run, counts);
    const shown = levels.map(({ count, groups }) => ({
      count,
      groups: groups.map(({ parent: _, ...group }) => ({ ...group, share: clamp(group.share) })),
    }));
    return { step: run.step, identity: run.run.identity, symbols, levels: shown };
  }

  async reading({ text }: Input<'reading'>): Promise<Answer<'reading'>> {
    const { run, view, reader } = await this.#having('reader');
    const { walk, paired, ...read } = await reader(text, ALTERNATIVES);
    if (walk === null) return { step: view.step, ...read, walk };
    const names = symbolNames(run.run);
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
    const { run: _, walk, force, count, ...drawing } = input;
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
    const written = await writer.texts.write(walk, { count, ...writingOf(drawing, context) });
    return { step: view.step, samples: written.map((text) => ({ text })), links };
  }

  async attention({ text, layer, head }: Input<'attention'>): Promise<Answer<'attention'>> {
    const { writer } = await this.#having('writer');
    const { layers, heads, ...read } = await sentenceAttention(writer, text, { layer, head });
    if ((layer ?? 0) >= layers || (head ?? 0) >= heads)
      throw new Fault(400, 'bad_request', `layers are 0 to ${layers - 1} and heads 0 to ${heads - 1}`);
    return { step: writer.step, layers, heads, ...read };
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

  async explain({ text }: Input<'explain'>): Promise<Answer<'explain'>> {
    const { run } = await this.#having('levels');
    const { walk, words } = await explainText(run as LanguageRun, text);
    const carrying = words.flatMap(({ start, end, symbol, weight }) =>
      symbol === null ? [] : [{ start, end, symbol, weight: clamp(weight) }],
    );
    return { step: run.step, walk, words: carrying };
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
    const [{ reasoner }, { event, count, along }] = [reasons, input];
    const results: Answer<'reason'>['results'] = [];
    for (const relation of input.relations.length > 0 ? input.relations : reasoner.relations) {
      if (signal.aborted) break;
      const found = await reasonedCandidates(reasons, { event, relation }, { count, along });
      const candidates = found.map(({ words, like = [], ...one }) => {
        return { ...one, words: words ? words.map((some) => [...some]) : null, like };
      });
      results.push({ relation, meaning: relationMeaning(relation), candidates });
    }
    return { step: run.step, event, path: reasoner.kind, results };
  }

  /** What is shown, with abilities that a request needs; a run that lacks one refuses here. */
  async #having<A extends keyof Capabilities>(...needed: A[]): Promise<RunView & Pick<Capabilities, A>> {
    return requireAbilities(await this.latest.current(), ...needed);
  }
}
