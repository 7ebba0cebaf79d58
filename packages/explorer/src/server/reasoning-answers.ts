import {
  type OpenedReasoning,
  openReasoner,
  openReasoning,
  pathKinds,
  type Reasoner,
  relationMeaning,
} from '@hidden-schema/hsn';
import { renameSymbol, symbolNames } from '@hidden-schema/studies';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { checkpointKey, checkSymbol } from './checkpoint-key.ts';
import { Fault } from './fault.ts';
import { Latest } from './latest.ts';
import { ReasoningView, readTuplesOf } from './reasoning-view.ts';
import type { TaskContext, TaskHandlers } from './tasks.ts';

interface Shown {
  opened: OpenedReasoning;
  /** None before a path model was trained. */
  reasoner: Reasoner | undefined;
  view: ReasoningView;
  notes: string[];
}

/** A network over tuples with its path model, in the worker. */
export class ReasoningAnswers implements TaskHandlers {
  readonly #directory: string;
  readonly #say: (text: string) => void;
  readonly #latest: Latest<Shown>;

  constructor(directory: string, say: (text: string) => void) {
    this.#directory = directory;
    this.#say = say;
    this.#latest = new Latest({
      key: () => `${checkpointKey(directory)} ${pathKinds(directory).join()}`,
      open: () => this.#open(),
      close: free,
    });
  }

  async opened(): Promise<Opened> {
    const { opened, reasoner, notes } = await this.#latest.current();
    const { run, config, step, relations, tokenizers } = opened;
    return {
      ...{ step, symbols: config.symbols, walk: config.length, notes },
      corpus: {
        ...run.record.corpus,
        vocabulary: tokenizers.decoder.vocabulary,
        length: null,
        sentences: { train: 0, valid: 0, test: 0 },
      },
      labels: [...relations],
      relations: relations.map((name) => ({ name, meaning: relationMeaning(name) })),
      features: [...(relations.length > 1 ? ['labels'] : []), ...(reasoner ? ['reason'] : [])],
    };
  }

  async graph(): Promise<Answer<'graph'>> {
    return (await this.#latest.current()).view.graph(symbolNames(this.#directory));
  }

  async symbol({ k }: Input<'symbol'>): Promise<Answer<'symbol'>> {
    const { view, opened } = await this.#latest.current();
    checkSymbol(k, opened.config.symbols);
    return view.symbol(k, symbolNames(this.#directory));
  }

  async rename({ k, name }: Input<'rename'>): Promise<Answer<'rename'>> {
    checkSymbol(k, (await this.#latest.current()).opened.config.symbols);
    return { symbol: k, name: renameSymbol(this.#directory, k, name) };
  }

  async labels(): Promise<Answer<'labels'>> {
    return (await this.#latest.current()).view.labels();
  }

  async reason(input: Input<'reason'>, { signal }: TaskContext): Promise<Answer<'reason'>> {
    const { opened, reasoner } = await this.#latest.current();
    if (!reasoner)
      throw new Fault(409, 'not_yet', 'this run has no path model yet; hsn reason train makes one');
    const { event, count } = input;
    const results: Answer<'reason'>['results'] = [];
    for (const relation of input.relations.length > 0 ? input.relations : opened.relations) {
      if (signal.aborted) break;
      const candidates = await reasoner.candidates(event, relation, { count });
      results.push({ relation, meaning: relationMeaning(relation), candidates });
    }
    return { step: opened.step, event, path: reasoner.kind, results };
  }

  async #open(): Promise<Shown> {
    this.#say('opening the model');
    const { opened, reasoner, problem } = await openBoth(this.#directory);
    if (opened.config.baseline) {
      opened.model.free();
      throw new Fault(
        409,
        'baseline',
        'this run is a baseline: a decoder without symbols, and so without a graph',
      );
    }
    this.#say('reading tuples');
    const { read, notes } = await readTuplesOf(opened);
    const view = new ReasoningView(opened, read);
    return { opened, reasoner, view, notes: [...opened.notes, ...notes, ...problem] };
  }
}

/** The network, with its path model where it has one that fits. */
async function openBoth(directory: string) {
  try {
    const reasoner = await openReasoner(directory);
    return { opened: reasoner.opened, reasoner, problem: [] };
  } catch (error) {
    const opened = await openReasoning(directory);
    return { opened, reasoner: undefined, problem: [(error as Error).message] };
  }
}

function free({ reasoner, opened }: Shown): void {
  if (reasoner) reasoner.free();
  else opened.model.free();
}
