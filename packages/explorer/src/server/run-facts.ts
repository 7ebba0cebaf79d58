import fs from 'node:fs';
import path from 'node:path';
import { type MetricsRow, Run, readMetrics } from '@hidden-schema/hsn';
import type { Answer, Input, Opened } from '../shared/api.ts';
import { Fault } from './fault.ts';
import type { Inference } from './inference.ts';

/** Rows of one answer; the client asks again for the rest. */
const MOST_ROWS = 5000;

/** What can be said of a run without its model: cheap enough for the main thread, and fresh at every call. */
export class RunFacts {
  readonly #id: string;
  readonly #directory: string;
  readonly #inference: Inference | undefined;
  #opened: Opened | null = null;
  #problem: string | null = null;
  #asking = false;
  #rows: { key: string; rows: MetricsRow[] } = { key: '', rows: [] };

  /** With `inference` the model is opened too. */
  constructor(id: string, directory: string, inference?: Inference) {
    this.#id = id;
    this.#directory = path.resolve(directory);
    this.#inference = inference;
    this.look();
  }

  run(): Answer<'run'> {
    const run = Run.open(this.#directory);
    this.look();
    return {
      ...this.#common(run),
      version: run.record.version,
      config: run.config,
      opened: this.#opened,
      doing: this.#inference?.doing ?? null,
      problem: this.#problem,
    };
  }

  /** What a list of runs says of this one. */
  summary(): Answer<'runs'>['runs'][number] {
    const run = Run.open(this.#directory);
    return { ...this.#common(run), figures: this.#figures() ?? {}, settings: flat(run.config) };
  }

  #common(run: Run) {
    const { created, seconds } = run.record;
    return {
      id: this.#id,
      name: path.basename(this.#directory),
      model: run.config.model,
      state: run.state,
      created,
      seconds: typeof seconds === 'number' ? seconds : null,
      lastStep: this.#metrics().at(-1)?.step ?? null,
      steps: run.config.training.steps,
    };
  }

  metrics({ after, from }: Input<'metrics'>): Answer<'metrics'> {
    const all = this.#metrics();
    // A file that is shorter than the client knows was begun anew by a resumed run.
    const start = from > all.length ? 0 : from;
    const rows = all.slice(start).filter(({ step }) => step > after);
    const finite = (row: MetricsRow) =>
      Object.fromEntries(Object.entries(row).map(([name, x]) => [name, Number.isFinite(x) ? x : null]));
    const { state } = Run.open(this.#directory);
    return { rows: rows.slice(0, MOST_ROWS).map(finite), from: start, total: all.length, state };
  }

  evaluation(): Answer<'evaluation'> {
    const figures = this.#figures();
    if (!figures)
      throw new Fault(404, 'not_yet', 'this run has no evaluation yet; it is written when training ends');
    return figures;
  }

  #figures(): Answer<'evaluation'> | undefined {
    let text: string;
    try {
      text = fs.readFileSync(path.join(this.#directory, 'evaluation.json'), 'utf8');
    } catch {
      return undefined;
    }
    const figures = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return Object.fromEntries(figures.map(([name, x]) => [name, typeof x === 'number' ? x : null]));
  }

  /** Asks the worker what is open now, unless it has been asked already. */
  look(): void {
    if (this.#asking || !this.#inference) return;
    this.#asking = true;
    this.#inference
      .ask('opened', undefined)
      .then(
        (opened) => {
          this.#opened = opened;
          this.#problem = null;
        },
        (error: Error) => {
          if (!(error instanceof Fault && error.status === 429)) this.#problem = error.message;
        },
      )
      .finally(() => {
        this.#asking = false;
      });
  }

  #metrics(): MetricsRow[] {
    const file = path.join(this.#directory, 'metrics.jsonl');
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat) return [];
    const key = `${stat.size} ${stat.mtimeMs} ${stat.ino}`;
    if (this.#rows.key !== key) this.#rows = { key, rows: readMetrics(file).rows };
    return this.#rows.rows;
  }
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
