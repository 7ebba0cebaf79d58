import { encodedOf } from '@hidden-schema/cli/analysis';
import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { different, ofRuns, readAtMost, titleOf } from './reproduce-notes.ts';

type Encoded = Awaited<ReturnType<typeof encodedOf>>;
const writing = { write: { maxTokens: 60 } };

/** Tables 9 and 10: random pairs of every run, drawn by a seed. */
export async function interpolations(runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> {
  const { languageRun } = await import('@hidden-schema/studies/runs/opened');
  const { symbolNames } = await import('@hidden-schema/studies/symbols/names');
  const { interpolateWalks } = await import('@hidden-schema/studies/analyses/interpolate-texts');
  const { interpolationSheet } = await import('@hidden-schema/studies/analyses/sheets');
  const count = (await wholeNumber('--pairs', flags.pairs)) ?? (flags.quick ? 1 : 4);
  const seed = (await wholeNumber('--seed', flags.seed, 0)) ?? 1;
  const all = await ofRuns(runs, async (opened, { directory, suffix, signal }) => {
    const run = languageRun(opened, 'table9');
    const encoded = await encodedOf(run, readAtMost(flags.quick), signal);
    const names = symbolNames(opened.run);
    const ways = [];
    for (const [at, [a, b]] of (await randomPairs(encoded, count, seed)).entries()) {
      const way = await interpolateWalks(run, a.walk, b.walk, writing);
      const complete = {
        ...way,
        first: { ...way.first, text: a.text },
        second: { ...way.second, text: b.text },
      };
      const labels = `${a.label ?? 'one sentence'} – ${b.label ?? 'another'}`;
      const title = `Interpolate, ${titleOf(run)}: ${labels}${way.unreachable ? ` (${way.unreachable})` : ''}`;
      const name = `table9${suffix}-${at + 1}`;
      const sheet = { ...interpolationSheet(complete, names), name, title };
      ways.push({ found: { run: directory, ...complete }, sheet });
    }
    encoded.close();
    return ways;
  });
  const ways = all.flat();
  return {
    name: 'table9',
    title: 'Tables 9 and 10: interpolations',
    data: ways.map(({ found }) => found),
    sheets: ways.map(({ sheet }) => sheet),
    text: `Pairs are drawn at random (--seed ${seed}), of different labels where there are labels. The paper shows four such ways on Yahoo and Yelp, of four steps each; ours have as many as the paths take. "from" and "to" are the sentences themselves, the first and last step what the decoder makes of their walks. ${different}`,
  };
}

/** Sentences drawn at random, each with one of another label where there are labels. */
async function randomPairs(encoded: Encoded, count: number, seed: number) {
  const { Random } = await import('@hidden-schema/base');
  const random = new Random(seed);
  const order = Int32Array.from({ length: encoded.count }, (_, n) => n);
  random.shuffle(order);
  const left = [...order];
  const pairs = [];
  while (pairs.length < count && left.length > 1) {
    const first = left.shift()!;
    const at = left.findIndex(
      (other) => encoded.labels.length < 2 || encoded.labelOf[other] !== encoded.labelOf[first],
    );
    if (at === -1) continue;
    const [second] = left.splice(at, 1);
    pairs.push([encoded.sentence(first), encoded.sentence(second!)] as const);
  }
  return pairs;
}
