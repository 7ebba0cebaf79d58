// node --import tsx packages/torch/test/operator-fuzz.ts --count 100000 --seed 1
// Expected: {"fuzz":"operators","calls":100000,"agreed":…,"refused":…,"faults":0,…}
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { ArgumentError, TorchError } from '../src/errors.ts';
import { type DType, grad, scope, type Tensor } from '../src/index.ts';
import { make, mutated, same } from './operator-arguments.ts';
import { type Call, type Calls, smallOperators } from './operator-cases.ts';
import { largeOperators } from './operator-heads.ts';
import { packedOperators } from './operator-packed.ts';

export interface FuzzSummary {
  readonly fuzz: 'operators';
  readonly operators: number;
  readonly calls: number;
  /** Values and gradients were libtorch's. */
  readonly agreed: number;
  /** A typed error, where libtorch refuses too or the documentation says so. */
  readonly refused: number;
  readonly faults: number;
  readonly seconds: number;
}

export const operators: Readonly<Record<string, Calls>> = {
  ...smallOperators,
  ...largeOperators,
  ...packedOperators,
};

/** Names of the operators that the sources of a folder register. */
export function definedIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cc'))
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/m\.def\(\s*"(\w+)\(/g)])
    .map(([, name]) => name!);
}

const floats: readonly DType[] = ['float32', 'float64', 'float16', 'bfloat16'];
const tolerances: Readonly<Partial<Record<DType, number>>> = {
  float64: 1e-9,
  float32: 5e-5,
  bfloat16: 2e-2,
  float16: 2e-2,
};

interface Result {
  readonly what: string;
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly values: readonly number[];
}

const read = (what: string, x: Tensor): Result => ({
  what,
  shape: x.shape,
  dtype: x.dtype,
  values: x.toNumbers(),
});

/** Values, and gradients of those arguments that are trained, under a gradient that lies in memory as drawn. */
function evaluate(body: Call['fused'], arguments_: readonly Tensor[], { draw }: Call): Result[] {
  const outputs = body(arguments_);
  const values = outputs.map((x, i) => read(`output ${i}`, x));
  const recorded = outputs.filter((x) => x.requiresGrad);
  const trained = arguments_.filter((x) => x.requiresGrad);
  if (recorded.length === 0) return values;
  const gradients = recorded.map(({ shape, dtype }) =>
    make({ shape, dtype }, draw.layouts[7]!, draw.seed + 100),
  );
  const found = grad(recorded, trained, { gradients });
  return [...values, ...found.flatMap((x, i) => (x ? [read(`gradient ${i}`, x)] : []))];
}

/** What a body gives, or the error it throws. */
function attempt(body: () => Result[]): Result[] | Error {
  try {
    return body();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/**
 * Where types are mixed, libtorch may round to the narrower one before it computes on in the wider, and an operator need
 * not round at the same place: both are right to the precision of the narrowest type that takes part.
 */
const precisionOf = (result: DType, arguments_: readonly Tensor[]): number =>
  Math.max(...[result, ...arguments_.map(({ dtype }) => dtype)].map((dtype) => tolerances[dtype] ?? 0));

interface Rounding {
  readonly scale: number;
  readonly arguments_: readonly Tensor[];
}

function compare(got: Result, expected: Result, { scale, arguments_ }: Rounding): void {
  const { what, shape, dtype, values } = got;
  const fail = (how: string): never => {
    throw new Error(`${what} ${how}`);
  };
  if (what !== expected.what) fail(`in place of ${expected.what}`);
  if (shape.join() !== expected.shape.join()) fail(`has shape [${shape}], libtorch's [${expected.shape}]`);
  if (dtype !== expected.dtype) fail(`is ${dtype}, libtorch's ${expected.dtype}`);
  const most = expected.values.reduce((m, x) => (Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m), scale);
  const bound = floats.includes(dtype) ? precisionOf(dtype, arguments_) * most : 0;
  for (const [i, x] of values.entries()) {
    const y = expected.values[i]!;
    if (!(Object.is(x, y) || x === y || Math.abs(x - y) <= bound))
      fail(`is ${x} at ${i} of [${shape}], libtorch's ${y}`);
  }
}

/** One call. Throws where the operator differs from libtorch without saying so. */
export function check(call: Call): 'agreed' | 'refused' {
  return scope(() => {
    const { draw, wanted, scale = 1 } = call;
    const changed = mutated(wanted, draw.mutation);
    const arguments_ = changed.map((argument, i) => {
      const x = make(argument, draw.layouts[i]!, draw.seed + i);
      return draw.trained[i] && floats.includes(x.dtype) ? x.detach().requireGrad() : x;
    });
    const expected = attempt(() => evaluate(call.composed, arguments_, call));
    const got = attempt(() => evaluate(call.fused, arguments_, call));
    if (got instanceof Error) {
      const typed = got instanceof TorchError || got instanceof ArgumentError;
      if (!typed || got.message.includes('\n')) throw new Error(`no error of this library: ${got.stack}`);
      const fits = same(wanted, changed) && call.restricted !== true;
      if (fits && !(expected instanceof Error)) throw new Error(`refused what it is for: ${got.message}`);
      return 'refused';
    }
    if (expected instanceof Error) throw new Error(`took what libtorch refuses: ${expected.message}`);
    if (got.length !== expected.length)
      throw new Error(`gave ${got.map((x) => x.what)}, libtorch ${expected.map((x) => x.what)}`);
    for (const [i, result] of got.entries()) compare(result, expected[i]!, { scale, arguments_ });
    return 'agreed';
  });
}

/** What was drawn, for whoever mends the fault. */
function described({ draw, wanted }: Call): string {
  const given = mutated(wanted, draw.mutation).map(
    ({ shape, dtype = 'float32' }, i) =>
      `${draw.trained[i] ? 'trained ' : ''}${draw.layouts[i]} ${dtype}[${shape}]`,
  );
  return `${given.join(', ')}; ${JSON.stringify(draw)}`;
}

/** `count` calls shared out over the operators; each fault is reported with the smallest call that shows it. */
export function fuzz(
  operators: Readonly<Record<string, Calls>>,
  count: number,
  seed: number,
  report: (line: string) => void,
): FuzzSummary {
  const started = performance.now();
  const tally = { calls: 0, agreed: 0, refused: 0, faults: 0 };
  const names = Object.keys(operators);
  let spoke = started;
  for (const [i, name] of names.entries()) {
    const runs = Math.floor(count / names.length) + (i < count % names.length ? 1 : 0);
    const before = tally.calls;
    const property = fc.property(operators[name]!, (call) => {
      // Calls that make a fault smaller are not counted again.
      if (tally.calls - before < runs) tally.calls++;
      const outcome = check(call);
      tally[outcome]++;
      if (performance.now() - spoke < 10_000) return;
      spoke = performance.now();
      report(`${tally.calls} of ${count} calls (${name}), ${tally.faults} faults`);
    });
    const found = fc.check(property, { numRuns: runs, seed });
    if (!found.failed) continue;
    tally.faults++;
    report(`${name}: ${(found.errorInstance as Error).message}\n  ${described(found.counterexample![0])}`);
  }
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  return { fuzz: 'operators', operators: names.length, ...tally, seconds };
}

/** As a program: what it found goes to stdout, and its progress to stderr. */
export function runFuzz(operators: Readonly<Record<string, Calls>>): void {
  const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } });
  const say = (line: string): boolean => process.stderr.write(`${line}\n`);
  const summary = fuzz(operators, Number(values.count ?? 100_000), Number(values.seed ?? 1), say);
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  if (summary.faults > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runFuzz(operators);
