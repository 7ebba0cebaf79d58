import { charWidth, displayWidth, formatNumber, plainText } from '@hidden-schema/base';
import type { SessionEvent, StageEvent } from '../train/train-events.ts';

/** The parts of a stream that decide how progress may look. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** What is being done: `train`. */
  label: string;
  total: number;
  /** Where a resumed run starts, so that its steps do not count into the rate. */
  start?: number;
  /** What is counted: `steps` by default. */
  unit?: string;
  output?: ProgressOutput;
  /** Milliseconds from any fixed moment. */
  now?: () => number;
}

/** Milliseconds between two states on a terminal, and between two lines elsewhere. */
const REDRAW_MS = 100;
const LINE_MS = 10_000;
const RATE_WINDOW_MS = 30_000;
const BAR = 20;
const CLEAR_LINE = '\r\x1b[2K';

/** Shows long work: one live line on a terminal, a plain line now and then elsewhere. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  readonly #live: boolean;
  readonly #begin: number;
  #samples: { time: number; step: number }[];
  #step: number;
  #metrics: Readonly<Record<string, number | string>> = {};
  #shownAt = Number.NEGATIVE_INFINITY;
  #drawn = false;
  #finished = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#output = options.output ?? process.stderr;
    this.#now = options.now ?? (() => performance.now());
    this.#live = this.#output.isTTY === true && process.env.TERM !== 'dumb';
    this.#begin = this.#now();
    this.#step = options.start ?? 0;
    this.#samples = [{ time: this.#begin, step: this.#step }];
  }

  /** Steps done so far, with the figures to show beside them; those not given again stay. */
  update(step: number, metrics: Readonly<Record<string, number | string>> = {}): void {
    if (this.#finished) return;
    this.#step = step;
    this.#metrics = { ...this.#metrics, ...metrics };
    const now = this.#now();
    if (now - this.#samples.at(-1)!.time >= REDRAW_MS) this.#samples.push({ time: now, step });
    while (this.#samples.length > 2 && now - this.#samples[1]!.time > RATE_WINDOW_MS) this.#samples.shift();
    if (this.#due(now)) this.#show(now);
  }

  /** A line of its own, above the live one. */
  note(text: string): void {
    this.#erase();
    this.#output.write(`${plainText(text)}\n`);
    if (this.#live && !this.#finished) this.#draw(this.#line(this.#now()));
  }

  /** Ends with a line that stays: what was done and how long it took, and `text` if given. */
  finish(text?: string): void {
    if (this.#finished) return;
    this.#erase();
    this.#finished = true;
    const { label, unit = 'steps' } = this.#options;
    const passed = formatDuration((this.#now() - this.#begin) / 1000);
    const parts = [
      `${label}: ${this.#step} ${unit} in ${passed}`,
      ...this.#figures(),
      ...(text ? [text] : []),
    ];
    this.#output.write(`${plainText(parts.join(' · '))}\n`);
  }

  #due(now: number): boolean {
    if (this.#live) return now - this.#shownAt >= REDRAW_MS || this.#step >= this.#options.total;
    return now - this.#shownAt >= LINE_MS;
  }

  #show(now: number): void {
    this.#shownAt = now;
    if (this.#live) this.#draw(this.#line(now));
    else this.#output.write(`${this.#line(now)}\n`);
  }

  #draw(line: string): void {
    // The last column stays empty: some terminals wrap when it is filled.
    this.#output.write(CLEAR_LINE + fit(line, Math.max(1, (this.#output.columns ?? 80) - 1)));
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#output.write(CLEAR_LINE);
    this.#drawn = false;
  }

  #line(now: number): string {
    const { label, total } = this.#options;
    const share = total > 0 ? Math.min(1, Math.max(0, this.#step / total)) : 1;
    const percent = `${Math.floor(share * 100)}%`.padStart(4);
    const count = `${String(this.#step).padStart(String(total).length)}/${total}`;
    const full = Math.floor(share * BAR);
    const bar = this.#live ? ` ${'█'.repeat(full)}${'░'.repeat(BAR - full)}` : '';
    return plainText(
      [`${label}${bar} ${percent} ${count}`, ...this.#timing(now), ...this.#figures()].join(' · '),
    );
  }

  #timing(now: number): string[] {
    const { total, unit = 'steps' } = this.#options;
    const first = this.#samples[0]!;
    // What was done before it was made is no rate.
    if (now - first.time < REDRAW_MS) return [];
    const rate = ((this.#step - first.step) / (now - first.time)) * 1000;
    if (!(rate > 0) || !Number.isFinite(rate)) return [];
    const speed =
      rate >= 1 ? `${formatNumber(rate, rate < 10 ? 1 : 0)} ${unit}/s` : `${formatDuration(1 / rate)} a step`;
    const left = total - this.#step;
    return left > 0 ? [speed, `${formatDuration(left / rate)} left`] : [speed];
  }

  #figures(): string[] {
    return Object.entries(this.#metrics).map(
      ([name, value]) => `${name} ${typeof value === 'number' ? formatNumber(value) : value}`,
    );
  }
}

/** Seconds for people: `0.4 s`, `2:05`, `1:02:05`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** Cut to the width, with a sign that something is missing. */
function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const char of text) {
    used += charWidth(char);
    if (used > width - 1) break;
    cut += char;
  }
  return `${cut}…`;
}

/** An evaluation that ends within these milliseconds says nothing of itself. */
const quietMs = 3000;

/** What happens between stages. */
type Landmark = { readonly type: 'chosen' | 'run' | 'ended' };

/** Shows a training to people, as its events come: a live line for each stage on a terminal, and notes. */
export function showEvents(output: ProgressOutput): (event: SessionEvent | Landmark) => void {
  let shown: { stage: StageEvent['type']; bar: Progress } | undefined;
  let evaluating = 0;
  const end = (reason?: string) => {
    shown?.bar.finish(reason);
    shown = undefined;
  };
  const barOf = ({ type: stage, label, total, unit, done }: StageEvent): Progress => {
    if (shown?.stage !== stage) {
      end();
      shown = { stage, bar: new Progress({ label, total, unit, start: done, output }) };
    }
    return shown.bar;
  };
  const onStage = (event: StageEvent) => {
    const { type, state, done, step, figures, reason } = event;
    if (type === 'evaluate' && state === 'begins') evaluating = performance.now();
    const quiet = type === 'evaluate' && performance.now() - evaluating <= quietMs;
    if (state === 'ends') return shown?.stage === type ? end(reason) : undefined;
    if (quiet && shown?.stage !== type) return undefined;
    const bar = barOf(event);
    if (state === 'going') bar.update(done, step ? stepFigures(step) : figures);
    return undefined;
  };
  return (event) => {
    if (event.type === 'note') {
      if (shown) shown.bar.note(event.text);
      else output.write(`${plainText(event.text)}\n`);
    } else if (event.type === 'validation')
      shown?.bar.update(event.step, { valid: event.objective, ...event.figures });
    else if (!('state' in event)) end();
    else if (event.label !== 'hash') onStage(event.unit === 'bytes' ? inKilobytes(event) : event);
  };
}

const inKilobytes = (event: StageEvent): StageEvent => ({
  ...event,
  unit: 'kB',
  done: Math.ceil(event.done / 1000),
  total: Math.ceil(event.total / 1000),
});

const stepFigures = ({ loss, reconstruction, kl_walk, kl = 0 }: NonNullable<StageEvent['step']>) => ({
  loss,
  nll: reconstruction,
  'kl-z': kl_walk ?? kl,
});
