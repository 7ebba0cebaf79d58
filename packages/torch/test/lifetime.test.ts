import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { UseAfterFreeError } from '../src/errors.ts';
import {
  arange,
  Generator,
  liveTensors,
  noGrad,
  ones,
  randn,
  scope,
  setThreads,
  type Tensor,
  tensor,
  zeros,
} from '../src/index.ts';

const live = (): number => liveTensors().tensors;

describe('a training loop', () => {
  it('keeps live tensors and memory flat over 2000 steps', () => {
    setThreads(1);
    const generator = new Generator(1);
    const weights = [
      randn([32, 64], generator).mul(0.1).detach(),
      zeros([64]),
      randn([64, 8], generator).mul(0.1).detach(),
      zeros([8]),
    ];
    for (const weight of weights) weight.requireGrad();
    const teacher = randn([32, 8], generator);
    const losses: number[] = [];
    const counts = new Set<number>();
    const bytes = new Set<number>();
    let memory = 0;
    for (let step = 0; step < 2000; step++) {
      losses.push(trainStep(weights, teacher, generator));
      if (step < 500) continue;
      if (step === 500) memory = process.memoryUsage().rss;
      counts.add(live());
      bytes.add(liveTensors().bytes);
    }
    expect(counts.size).toBe(1);
    expect(bytes.size).toBe(1);
    expect((process.memoryUsage().rss - memory) / 1e6).toBeLessThan(20);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 2);
  });

  function trainStep(weights: readonly Tensor[], teacher: Tensor, generator: Generator): number {
    return scope(() => {
      const [w1, b1, w2, b2] = weights as [Tensor, Tensor, Tensor, Tensor];
      const input = randn([128, 32], generator);
      const loss = input
        .matmul(w1)
        .add(b1)
        .tanh()
        .matmul(w2)
        .add(b2)
        .sub(input.matmul(teacher))
        .pow(2)
        .mean();
      loss.backward();
      noGrad(() => {
        for (const weight of weights) {
          weight.add_(weight.grad!, -0.1);
          weight.setGrad(undefined);
        }
      });
      return loss.item();
    });
  }
});

describe('scope', () => {
  it('frees what is not returned, at once', () => {
    const before = live();
    const sum = scope(() => {
      const a = ones([3]);
      const b = a.add(1);
      expect(live()).toBe(before + 2);
      return b.sum();
    });
    expect(live()).toBe(before + 1);
    expect(sum.item()).toBe(6);
    sum.free();
    expect(live()).toBe(before);
  });

  it('lets tensors in arrays and plain objects live', () => {
    const before = live();
    const out = scope(() => {
      zeros([1]);
      return { list: [arange(1), [arange(2)]], inner: { a: arange(3) }, plain: 4, nothing: null };
    });
    expect(live()).toBe(before + 3);
    expect((out.list[1] as Tensor[])[0]!.shape).toEqual([2]);
    expect(out.inner.a.shape).toEqual([3]);
  });

  it('frees everything when it throws', () => {
    const before = live();
    expect(() =>
      scope(() => {
        const a = ones([2]);
        scope(() => a.add(1));
        throw new Error('stop');
      }),
    ).toThrow('stop');
    expect(live()).toBe(before);
  });

  it('hands what an inner scope returns to the outer one', () => {
    const before = live();
    let inner: Tensor | undefined;
    scope(() => {
      inner = scope(() => ones([2]).add(1));
      expect(live()).toBe(before + 1);
      expect(inner.toNumbers()).toEqual([2, 2]);
    });
    expect(live()).toBe(before);
    expect(inner!.alive).toBe(false);
  });

  it('keeps what keep() was called on', () => {
    const before = live();
    const kept: Tensor[] = [];
    scope(() => kept.push(ones([2]).keep()));
    expect(live()).toBe(before + 1);
    expect(kept[0]!.toNumbers()).toEqual([1, 1]);
    kept[0]!.free();
    expect(live()).toBe(before);
  });

  it('leaves tensors from outside alone, and takes a second free calmly', () => {
    const outside = ones([2]);
    scope(() => [outside.add(1), outside]);
    expect(outside.alive).toBe(true);
    outside.free();
    outside.free();
    expect(outside.alive).toBe(false);
  });

  it('refuses asynchronous functions', () => {
    const before = live();
    expect(() =>
      scope(async () => {
        zeros([2]);
      }),
    ).toThrow('await outside of it');
    expect(live()).toBe(before);
  });

  it('names the operator of a tensor that was used too late', () => {
    let late: Tensor | undefined;
    scope(() => {
      late = tensor([1, 2]).mul(3);
    });
    for (const use of [
      () => late!.add(1),
      () => ones([2]).add(late!),
      () => late!.shape,
      () => late!.toArray(),
      () => late!.item(),
      () => late!.backward(),
      () => late!.grad,
    ]) {
      expect(use).toThrow(UseAfterFreeError);
      expect(use).toThrow('made by mul.Scalar, was freed');
    }
  });
});

describe('the garbage collector', () => {
  const body = fileURLToPath(new URL('./gc-body.ts', import.meta.url));
  function run(...flags: string[]): Record<string, unknown> {
    return JSON.parse(
      execFileSync(process.execPath, [...flags, '--import', 'tsx', body], { encoding: 'utf8' }),
    );
  }

  it('frees tensors that were dropped outside every scope', () => {
    expect(run('--expose-gc')).toEqual({ dropped: 1000, left: 0, held: [0, 0, 0] });
  });

  it('is driven by the memory of tensors, not only by the size of their handles', () => {
    const { peakMB, alive } = run();
    expect(alive).toBe(true);
    // 16.8 GB are dropped in all, and none would be collected if V8 saw the handles alone; when it does is its own affair.
    expect(peakMB).toBeLessThan(8000);
  });
});
