import { guarded, type NativeEvent, native } from './native.ts';

/** A named stretch of TypeScript, a stage of a training step. */
interface Span {
  readonly name: string;
  readonly start: number;
  readonly nanoseconds: number;
}

/** What ran between `startProfile` and `stopProfile`. */
export interface Profile {
  readonly operators: readonly NativeEvent[];
  readonly spans: readonly Span[];
}

let spans: Span[] | undefined;

/** Names what `body` does in the profile that is recorded; without one, only runs it. */
export function span<T>(name: string, body: () => T): T {
  if (spans === undefined) return body();
  const into = spans;
  const start = clock();
  try {
    return body();
  } finally {
    into.push({ name, start, nanoseconds: clock() - start });
  }
}

/** Records every operator, forward and backward, from now on. One profile a process at a time. */
export function startProfile(): void {
  guarded('profile', () => native.profileStart());
  spans = [];
}

/** Ends the recording and gives it. */
export function stopProfile(): Profile {
  const recorded = spans ?? [];
  spans = undefined;
  return { operators: guarded('profile', () => native.profileStop()), spans: recorded };
}

const clock = (): number => Number(process.hrtime.bigint());

/** The profile in Chrome's trace format: chrome://tracing and ui.perfetto.dev open it. */
export function chromeTrace({ operators, spans }: Profile): { traceEvents: object[]; displayTimeUnit: 'ms' } {
  const began = [...operators, ...spans].reduce((least, { start }) => Math.min(least, start), Infinity);
  const at = ({ start, nanoseconds }: Span) => ({ ts: (start - began) / 1e3, dur: nanoseconds / 1e3 });
  const stages = spans.map((s) => ({
    name: s.name,
    cat: 'stage',
    ph: 'X',
    pid: 1,
    tid: 'TypeScript',
    ...at(s),
  }));
  const calls = operators.map((o) => ({
    name: o.name,
    cat: o.backward ? 'gradient' : 'operator',
    ph: 'X',
    pid: 1,
    tid: `libtorch ${o.thread}`,
    ...at(o),
    args: { shapes: o.shapes, allocated: o.allocated },
  }));
  const memory = operators.map((o) => ({
    name: 'tensor memory since start',
    ph: 'C',
    pid: 1,
    ts: (o.start + o.nanoseconds - began) / 1e3,
    args: { bytes: o.live },
  }));
  return { traceEvents: [...stages, ...calls, ...memory], displayTimeUnit: 'ms' };
}

export interface OperatorTotal {
  readonly name: string;
  readonly calls: number;
  /** Without the operators it called in turn. */
  readonly milliseconds: number;
}

/** Own time of every operator by name, most first. */
export function operatorTotals({ operators }: Pick<Profile, 'operators'>): OperatorTotal[] {
  const totals = new Map<string, { calls: number; milliseconds: number }>();
  for (const [event, own] of ownTimes(operators)) {
    const total = totals.get(event.name) ?? { calls: 0, milliseconds: 0 };
    totals.set(event.name, { calls: total.calls + 1, milliseconds: total.milliseconds + own / 1e6 });
  }
  return [...totals]
    .map(([name, total]) => ({ name, ...total }))
    .sort((a, b) => b.milliseconds - a.milliseconds);
}

/** Nanoseconds of each event less those of the events inside it. */
function ownTimes(operators: readonly NativeEvent[]): Map<NativeEvent, number> {
  const own = new Map(operators.map((event) => [event, event.nanoseconds]));
  const open = new Map<number, NativeEvent[]>();
  for (const event of [...operators].sort((a, b) => a.start - b.start || b.nanoseconds - a.nanoseconds)) {
    const stack = open.get(event.thread) ?? [];
    open.set(event.thread, stack);
    while (stack.length > 0 && endOf(stack.at(-1)!) <= event.start) stack.pop();
    const parent = stack.at(-1);
    if (parent) own.set(parent, own.get(parent)! - event.nanoseconds);
    stack.push(event);
  }
  return own;
}

const endOf = ({ start, nanoseconds }: NativeEvent): number => start + nanoseconds;
