import { Group } from '../src/distributed/group.ts';
import { placeOf } from '../src/distributed/place.ts';
import { Generator, nn, randn, scope, Tensor, tensor } from '../src/index.ts';

/** d/dw of f(mean over ranks of w·x_r) + mean over ranks of w·y_r, where f(m) = m². */
function gradients(group: Group): { mean: number; gradient: number } {
  return scope(() => {
    const w = nn.parameter(tensor([3]));
    const x = tensor([group.rank + 1]);
    group.averageGradients([w]);
    const [mean] = group.mean([w.mul(x)]);
    group.backward(
      mean!
        .mul(mean!)
        .add(w.mul(10 * group.rank))
        .sum(),
    );
    return { mean: mean!.item(), gradient: w.grad!.item() };
  });
}

/** Many parameters in several buckets, one of them unused: how far gradients are from the mean of all ranks' own. */
function buckets(group: Group): number {
  const { rank, size } = group;
  return scope(() => {
    const generator = new Generator(5);
    const weights = Array.from({ length: 6 }, () => nn.parameter(randn([700, 700], generator)));
    group.averageGradients(weights);
    const used = weights.slice(0, 5);
    const losses = used.map((w, i) => w.mul((rank + 1) * (i + 1)).sum());
    group.backward(losses.reduce((sum, term) => sum.add(term)));
    const expected = (size + 1) / 2;
    const worst = used.map((w, i) =>
      w
        .grad!.sub(expected * (i + 1))
        .abs()
        .amax([0, 1])
        .item(),
    );
    return Math.max(...worst) + (weights[5]!.grad === undefined ? 0 : 1);
  });
}

/** One process of the group's tests: prints what it saw as a JSON line, and why it ended where it was not to. */
async function main(group: Group): Promise<void> {
  const { rank, size } = group;
  const sums = Tensor.fromArray(Float32Array.of(rank + 1, 10 * (rank + 1)), [2]);
  const sent = Tensor.fromArray(Float32Array.of(rank * 7), [1]);
  group.sum([sums]);
  group.broadcast([sent], size - 1);
  const bytes = group.broadcastBytes(rank === 0 ? new TextEncoder().encode('hello') : undefined);
  const told = new TextDecoder().decode(bytes);
  const totals = await group.totals([1, rank]);
  const seen = { rank, sums: sums.toNumbers(), sent: sent.item(), told, totals };
  process.stdout.write(`${JSON.stringify({ ...seen, ...gradients(group), buckets: buckets(group) })}\n`);
  if (process.env.FAIL === String(rank)) group.fail('has no disk left');
  else while (process.env.STAY) await group.barrier();
}

/** What the ranks are to agree on, as `name=value` words. */
function termsOf({ TERMS = '' }: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(TERMS.split(' ').flatMap((term) => (term === '' ? [] : [term.split('=')])));
}

/** A mean over the group, whose gradient is asked for when the group is closed: an error, and no crash. */
function backwardAfterClose(group: Group): void {
  const w = nn.parameter(tensor([3]));
  const [mean] = group.mean([w.mul(2)]);
  group.close();
  mean!.sum().backward();
}

let group: Group | undefined;
try {
  group = await Group.open(placeOf(process.env)!, { terms: termsOf(process.env) });
  if (process.env.CLOSED) backwardAfterClose(group);
  else await main(group);
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
} finally {
  group?.close();
}
