// The work that workers.test.ts does in several threads at once and, for comparison, in its own.
import { parentPort, workerData } from 'node:worker_threads';
import { Generator, liveTensors, noGrad, ones, randn, scope, type Tensor } from '../src/index.ts';

export interface Task {
  readonly seed: number;
  readonly steps: number;
  /** Tensors of this size are still alive when the thread ends. */
  readonly leftMB?: number;
}

export interface Outcome {
  readonly losses: number[];
  readonly weights: number[];
  readonly tensors: number;
}

function step(weights: Tensor, target: Tensor, generator: Generator): number {
  return scope(() => {
    const input = randn([32, 48], generator);
    const loss = input.matmul(weights).tanh().sub(input.matmul(target)).pow(2).mean();
    loss.backward();
    noGrad(() => {
      weights.add_(weights.grad!, -0.1);
      weights.setGrad(undefined);
    });
    return loss.item();
  });
}

/** Fits a small layer: products, gradients, and draws from an explicit generator. */
export function work({ seed, steps }: Task): Outcome {
  const generator = new Generator(seed);
  const before = liveTensors().tensors;
  const weights = randn([48, 16], generator).requireGrad();
  const target = randn([48, 16], generator);
  const losses = Array.from({ length: steps }, () => step(weights, target, generator));
  const outcome = { losses, weights: weights.toNumbers() };
  weights.free();
  target.free();
  return { ...outcome, tensors: liveTensors().tensors - before };
}

const left: Tensor[] = [];

if (parentPort !== null && workerData !== null && 'steps' in (workerData as object)) {
  parentPort.postMessage('started');
  const task = workerData as Task;
  if (task.leftMB !== undefined) left.push(ones([task.leftMB, 1 << 18]));
  parentPort.postMessage(work(task));
}
