import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Generator, linear, noGrad, rand, randn, scope, type Tensor } from '@hidden-schema/torch';
import { describe, expect, it } from 'vitest';
import { expectSame, valueAndGradients } from '../../torch/test/compared.ts';
import { bestStep, deepPairSums, pairSums, walkDivergence } from '../src/kernels.ts';
import { type Aggregation, aggregatedKl } from '../src/walk/aggregate.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const generator = new Generator(7);

describe('links of pairs', () => {
  const [left, right] = [randn([13, 37], generator), randn([9, 37], generator)];

  it('one hidden layer equals the composed one', () =>
    scope(() => {
      const w = randn([37], generator);
      expectSame(
        valueAndGradients((a, b, c) => pairSums(a!, b!, c!), [left, right, w]),
        valueAndGradients(
          (a, b, c) => a!.unsqueeze(1).add(b!.unsqueeze(0)).relu().matmul(c!),
          [left, right, w],
        ),
      );
    }));

  it('deeper networks equal the composed one, however many rows at a time', () =>
    scope(() => {
      const layers = [[37, 37], [37], [1, 37], [1]].map((shape) => randn(shape, generator));
      const inputs = [left, right, ...layers];
      const composed = valueAndGradients(
        (a, b, w1, b1, w2, b2) =>
          linear(linear(a!.unsqueeze(1).add(b!.unsqueeze(0)).relu(), w1!, b1!).relu(), w2!, b2!).squeeze(2),
        inputs,
      );
      for (const rows of [1, 4, 100])
        expectSame(
          valueAndGradients((a, b, ...rest) => deepPairSums(a!, b!, rest, rows), inputs),
          composed,
        );
    }));
});

describe('divergence of a step', () => {
  it('equals the composed one, zeros included', () =>
    scope(() => {
      const [J, K] = [21, 37];
      const rows = rand([J, K], generator)
        .gt(0.5)
        .to('float32')
        .mul(rand([J, K], generator));
      const ratio = rand([J, K], generator).mul(rand([J, K], generator).gt(0.1).to('float32'));
      const [weight, source] = [rand([J], generator), randn([J], generator)];
      const prior = randn([J, K], generator);
      const inputs = [rows, ratio, weight, source, prior];
      const composed = valueAndGradients(
        (R, m, w, s, p) =>
          w!
            .unsqueeze(1)
            .mul(R!.mul(m!))
            .mul(m!.clamp(1e-30).log().sub(s!.unsqueeze(1)).sub(p!))
            .sum(),
        inputs.map((x) => x.to('float64')),
      );
      const fused = valueAndGradients(
        (R, m, w, s, p) => walkDivergence({ R: R!, m: m!, w: w!, s: s!, p: p! }),
        inputs,
      );
      expectSame(
        fused.map((x) => x.to('float64')),
        composed,
      );
    }));
});

describe('walks on a graph of few links', () => {
  const [B, L, K] = [70, 4, 90];
  const linked = rand([K, K], generator)
    .lt(0.05)
    .to('float32')
    .mul(rand([K, K], generator).add(0.5))
    .keep();
  const scores = randn([B, L, K], generator).keep();
  const priorWeights = randn([1, K], generator).keep();

  /** What a training step reads of walks: where they end, what they cost, and gradients of scores and graph. */
  function read(dtype: 'float32' | 'float64', how: Aggregation, trained: boolean): Tensor[] {
    const body = (h: Tensor, A: Tensor): Tensor => {
      const graph = new WalkableGraph(trained ? A : A.detach());
      expect(graph.links !== undefined).toBe(dtype === 'float32');
      const q = WalkDistribution.fromScores(graph, h);
      const walkPrior = new WalkPrior('trained', { nodes: K, length: L }, generator, { dtype });
      noGrad(() => {
        walkPrior.weights!.copy_(priorWeights.to(dtype));
        walkPrior.start!.zero_();
      });
      const prior = walkPrior.on(graph);
      const { start, steps } = aggregatedKl(q, prior, how);
      const ends = q.marginals().at(-1)!;
      return ends.mul(ends).sum().add(A.sum().mul(0)).add(start).add(steps).add(q.kl(prior).mean());
    };
    return valueAndGradients(body, [scores.to(dtype), linked.to(dtype)]).map((x) => x.to('float64'));
  }

  it.each([
    ['projection', false],
    ['projection', true],
    ['mean', false],
    ['mean', true],
  ] as const)('are those of whole matrices in float64: %s, graph trained: %s', (how, trained) =>
    scope(() => expectSame(read('float32', how, trained), read('float64', how, trained), 2e-4)),
  );
});

describe('best steps', () => {
  it('are those of all ways one by one, links that are missing included', () =>
    scope(() => {
      for (const [B, J, K] of [
        [3, 7, 7],
        [2, 16, 16],
        [5, 50, 50],
        [1, 1, 33],
      ] as const) {
        const scores = randn([B, J], generator);
        const links = rand([J, K], generator).sub(0.3).clamp(0).log();
        const { best, from } = bestStep(scores, links);
        const wide = bestStep(scores.to('float64'), links.to('float64'));
        expect(best.toNumbers()).toEqual(wide.best.to('float32').toNumbers());
        const [found, s, l] = [from.toNumbers(), scores.toNumbers(), links.toNumbers()];
        for (const [at, value] of best.toNumbers().entries()) {
          const [b, k] = [Math.floor(at / K), at % K];
          expect(Math.fround(s[b * J + found[at]!]! + l[found[at]! * K + k]!)).toBe(value);
        }
      }
    }));
});

describe('an engine without these kernels', () => {
  it('names the one command', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-kernels-'));
    try {
      const addon = path.join(folder, 'torch.node');
      const built = fileURLToPath(new URL('../../torch/build/torch.node', import.meta.url));
      fs.copyFileSync(process.env.HSN_ADDON ?? built, addon);
      const kernels = new URL('../src/kernels.ts', import.meta.url).href;
      const use = '.then((all) => all.pairSums()).catch((error) => console.log(error.message))';
      const script = `import(${JSON.stringify(kernels)})${use}`;
      const run = (): string =>
        spawnSync(process.execPath, ['--import', 'tsx', '-e', script], {
          encoding: 'utf8',
          cwd: fileURLToPath(new URL('..', import.meta.url)),
          env: { ...process.env, HSN_ADDON: addon },
        }).stdout;
      expect(run()).toMatch(/^the engine is not set up: .*; run "npx hsn setup"\n$/);
      fs.writeFileSync(path.join(folder, 'hsn.so'), 'cut');
      expect(run()).toMatch(
        /^the engine does not load \(.*hsn\.so.*\); run "npx hsn setup" to build it anew\n$/,
      );
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  });
});
