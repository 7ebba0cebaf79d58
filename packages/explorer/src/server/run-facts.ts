import path from 'node:path';
import type { MetricsRow } from '@hidden-schema/hsn/run/metrics';
import { evaluationFigures } from '@hidden-schema/hsn/run/metrics';
import { MetricsFollower } from '@hidden-schema/hsn/run/metrics-follower';
import { Run } from '@hidden-schema/hsn/run/run';
import { describeRun } from '@hidden-schema/hsn/run/run-summary';
import { storedSymbolFigures } from '@hidden-schema/studies/stored-figures';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { Curves } from '../shared/curves.ts';
import { Fault } from './fault.ts';
import { filesStamp, runFiles } from './inference.ts';
import type { Models } from './models.ts';

/** Rows of one answer; the client asks again for the rest. */
const MOST_ROWS = 5000;
/** Milliseconds after which a model that could not be opened is tried again. */
const RETRY = 60_000;

type Listed = Omit<Answer<'runs'>['runs'][number], 'problem'>;

/** What a list shows, beside what a model is opened from. */
const LISTED = ['metrics.jsonl', 'evaluation.json', 'lock'];

/** What can be said of a run without its model: cheap enough for the main thread, and fresh at every call. */
export class RunFacts {
  readonly #id: string;
  readonly #directory: string;
  readonly #models: Models;
  readonly #follower: MetricsFollower;
  readonly #curves = new Curves();
  #opened: Opened | null = null;
  #problem: string | null = null;
  #asking = false;
  /** What the run's files were when its model was last asked, and when that was. */
  #asked = { files: '', at: 0 };
  #described: { files: string; summary: Listed } | undefined;

  constructor(id: string, directory: string, models: Models) {
    this.#id = id;
    this.#directory = directory;
    this.#models = models;
    this.#follower = new MetricsFollower(path.join(directory, 'metrics.jsonl'), {
      onRow: (row) => this.#curves.add(row),
      onRestart: () => this.#curves.clear(),
    });
  }

  run(): Answer<'run'> {
    const run = Run.open(this.#directory);
    this.look();
    const { created, seconds } = run.record;
    const { lastStep, fault } = this.#listed();
    return {
      id: this.#id,
      name: path.basename(this.#directory),
      model: run.config.model,
      state: run.state,
      created,
      seconds: typeof seconds === 'number' ? seconds : null,
      lastStep,
      steps: run.config.training.steps,
      version: run.record.version,
      config: run.config,
      identity: run.identity,
      opened: this.#opened,
      doing: this.#models.doing(this.#directory) ?? null,
      problem: this.#problem,
      fault,
    };
  }

  /** What a list of runs says of this one. */
  summary(): Answer<'runs'>['runs'][number] {
    return { ...this.#listed(), problem: this.#problem };
  }

  #listed(): Listed {
    const files = `${runFiles(this.#directory)} ${filesStamp(this.#directory, LISTED)}`;
    if (this.#described?.files === files) return this.#described.summary;
    const { state, model, created, step, steps, figures, fault } = describeRun(this.#directory);
    const { seconds, settings } =
      fault === undefined ? moreOf(this.#directory) : { seconds: null, settings: {} };
    const summary = {
      ...{ id: this.#id, name: path.basename(this.#directory), state, fault: fault ?? null },
      ...{ model: model ?? null, created: created ?? null, steps: steps ?? null, lastStep: step ?? null },
      ...{ seconds, settings, figures: figures ?? {} },
    };
    // Whether a run still runs is not written in its files.
    this.#described = state === 'running' ? undefined : { files, summary };
    return summary;
  }

  async metrics({ after, from }: Input<'metrics'>): Promise<Answer<'metrics'>> {
    const { state } = Run.open(this.#directory);
    await this.#follower.advance();
    const { total } = this.#follower;
    // A file that is shorter than the client knows was begun anew by a resumed run.
    const start = from > total ? 0 : from;
    const rows = await this.#follower.rows(start, after, MOST_ROWS);
    const finite = (row: MetricsRow) =>
      Object.fromEntries(Object.entries(row).map(([name, x]) => [name, Number.isFinite(x) ? x : null]));
    return { rows: rows.map(finite), from: start, total, state };
  }

  async curves({ known }: Input<'curves'>): Promise<Answer<'curves'>> {
    const { state } = Run.open(this.#directory);
    await this.#follower.advance();
    const { total } = this.#follower;
    return { total, state, curves: known === total ? null : this.#curves.list() };
  }

  evaluation(): Answer<'evaluation'> {
    const run = Run.open(this.#directory);
    const [trained, symbols] = [evaluationFigures(run), storedSymbolFigures(run)];
    if (!trained && !symbols)
      throw new Fault(404, 'not_yet', 'this run has no evaluation yet; hsn eval makes one');
    return { ...symbols, ...trained };
  }

  /** Asks the model what is open now, unless it has been asked already; one that was closed for another stays so. */
  look(): void {
    if (this.#asking) return;
    const files = runFiles(this.#directory);
    const same = files === this.#asked.files;
    const late = performance.now() - this.#asked.at > RETRY;
    const known = same && (this.#opened !== null || (this.#problem !== null && !late));
    if (known && !this.#models.isOpen(this.#directory)) return;
    this.#asking = true;
    this.#models
      .ask(this.#directory, 'opened', undefined)
      .then(
        (opened) => {
          this.#opened = opened;
          this.#problem = null;
        },
        (error: Error) => {
          // Others were before it: it is asked again.
          if (!(error instanceof Fault && [429, 503].includes(error.status))) this.#problem = error.message;
        },
      )
      .finally(() => {
        this.#asking = false;
        this.#asked = { files, at: performance.now() };
      });
  }
}

function moreOf(directory: string) {
  const { record, config } = Run.open(directory);
  return { seconds: typeof record.seconds === 'number' ? record.seconds : null, settings: flat(config) };
}

type Setting = string | number | boolean | null;

/** Settings by their path. */
function flat(value: object, prefix = ''): Record<string, Setting> {
  const all = Object.entries(value).flatMap(([name, inner]): [string, Setting][] => {
    if (Array.isArray(inner)) return [[prefix + name, inner.join(', ')]];
    if (typeof inner === 'object' && inner !== null) return Object.entries(flat(inner, `${prefix}${name}.`));
    return [[prefix + name, inner as Setting]];
  });
  return Object.fromEntries(all);
}
