import { Random } from '@hidden-schema/base/random';
import { loadConfig, rivalConfig } from '@hidden-schema/hsn/config/settings';
import type { RivalFigures } from '@hidden-schema/hsn/text-run';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { noGrad } from '@hidden-schema/torch/autograd';
import { scope } from '@hidden-schema/torch/scope';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateRival } from '../src/rivals/evaluation.ts';
import { prepareRival, RivalTask } from '../src/rivals/task.ts';

// Eight kinds of texts, each with four words of its own: log 8 nats to tell, all of which the first word tells too.
const kinds = 'abcdefgh';
const folder = temporaryFolder('rival-planted');
const input = folder.path('texts.txt');
afterAll(folder.remove);
beforeAll(() => {
  const random = new Random(3);
  const line = () => {
    const kind = kinds[random.int(kinds.length)];
    return Array.from({ length: 5 }, () => `${kind}${random.int(4)}`).join(' ');
  };
  writeTexts(input, Array.from({ length: 800 }, line));
});

const sizes = [
  'encoder.name=lstm',
  'encoder.width=32',
  'encoder.layers=1',
  'encoder.dropout=0',
  'decoder.width=32',
  'decoder.layers=1',
  'decoder.heads=2',
  'decoder.dropout=0',
  'decoder.vocabularySize=300',
  'training.batch=32',
  'training.rate=0.005',
  'training.encoderRate=0.005',
  'training.warmup=1',
];

async function trained(model: string, steps: number, ...settings: string[]): Promise<RivalFigures> {
  const all = [...sizes, `training.steps=${steps}`, ...settings];
  const config = rivalConfig(loadConfig(`model: ${model}`, 'test', all));
  const prepared = await prepareRival(config, { input, settings: {} }, { cache: folder.path('cache') });
  const task = new RivalTask(prepared);
  while (!task.trainer.finished) task.trainer.trainStep();
  const { training } = task;
  const figures = scope(() =>
    noGrad(() => evaluateRival(training.model, prepared.corpus, training.frames, { draws: 20 })),
  );
  task.trainer.free();
  prepared.close();
  return figures;
}

const steps = 150;
/** Seconds of work, and minutes where others keep the machine busy. */
const patience = 600_000;

test(
  'where words tell all by themselves, latents at full price are left empty and free nats keep them',
  async () => {
    const dear = await trained('optimus', steps, 'latent=4', 'threshold=0', 'beta.kind=constant');
    const free = await trained('optimus', steps, 'latent=4', 'threshold=1', 'beta.kind=constant');
    expect(dear.mutual_information_exact).toBeLessThan(0.5);
    expect(free.mutual_information_exact).toBeGreaterThan(1);
    expect(free.kl).toBeGreaterThan(dear.kl + 1);
  },
  patience,
);

test(
  'codes are free to use, and tell no more than there are codes for',
  async () => {
    const enough = await trained('vq', steps, 'symbols=16', 'length=1', 'code=8', 'prior=8');
    expect(enough.mutual_information_exact).toBeGreaterThan(1.2);
    expect(enough.symbols_used).toBeGreaterThan(3);
    // Two codes cannot tell eight kinds apart, whatever is learnt.
    const few = await trained('vq', 40, 'symbols=2', 'length=1', 'code=8', 'prior=8');
    expect(few.mutual_information_exact).toBeLessThan(Math.log(2) + 1e-6);
    expect(few.symbols_used).toBeLessThanOrEqual(2);
  },
  patience,
);

test(
  'the mutual-information variant keeps what the divergence of each sentence takes',
  async () => {
    const small = ['latent=4', 'hidden=32', 'dual.hidden=32', 'beta.kind=constant'];
    const kept = await trained('ivae', steps, ...small, 'divergence=aggregated');
    const paid = await trained('ivae', steps, ...small, 'divergence=sentence');
    expect(kept.mutual_information_exact).toBeGreaterThan(0.25);
    expect(paid.mutual_information_exact).toBeLessThan(0.5 * kept.mutual_information_exact);
  },
  patience,
);
