import { Random } from '@hidden-schema/base';
import { startExplorer } from '@hidden-schema/explorer';
import type { Answer } from '@hidden-schema/explorer/api';
import type { OpenedRun } from '@hidden-schema/hsn';
import { EncodedWriter, openRun } from '@hidden-schema/studies';
import { json, request, whenOpened } from '../packages/explorer/test/requests.ts';
import { labelNames, makeSmallLanguage } from '../packages/explorer/test/small-language.ts';
import { type BenchOptions, type Measurement, median, rounded } from './measure.ts';

const SENTENCES = 1_000_000;
const BLOCK = 10_000;
const MOST_MS = 300;

/** Stores a million made-up sentences with a run, as reading them would. */
function store({ run, step, symbols, length }: OpenedRun): void {
  const random = new Random(1);
  const writer = new EncodedWriter(run, labelNames);
  const sentence = (n: number) => ({
    ...{ text: `sentence ${n} of a long corpus, about as long as reviews are`, label: n % 2 },
    split: 'train' as const,
    walk: Array.from({ length }, () => random.int(symbols)),
    probabilities: Array.from({ length }, () => random.next()),
  });
  for (let first = 0; first < SENTENCES; first += BLOCK)
    writer.write(Array.from({ length: BLOCK }, (_, at) => sentence(first + at)));
  const facts = { created: run.record.created, step, symbols, length, total: SENTENCES };
  writer.finish(facts);
}

/** What the explorer's panels ask of a corpus, with a million sentences read: time, bytes sent, memory. */
export async function* run({ rounds }: BenchOptions): AsyncGenerator<Measurement> {
  const small = await makeSmallLanguage();
  const opened = await openRun(small.run);
  store(opened);
  opened.model.free();
  const before = process.memoryUsage().rss;
  const explorer = await startExplorer({ run: small.run });
  try {
    const began = performance.now();
    await whenOpened(explorer.url);
    yield told('until the page can be used', 's', (performance.now() - began) / 1000, 60);
    const label = encodeURIComponent(labelNames[1]);
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ['the last page', `/api/encoded?offset=${SENTENCES - 50}&limit=50`],
      ['a page of a symbol', '/api/encoded?symbol=3&offset=5000&limit=50'],
      ['a page of a label and a symbol', `/api/encoded?label=${label}&symbol=3&offset=5000&limit=50`],
      ['nearest to a walk', '/api/nearest', { walk: [1, 2, 3], limit: 10 }],
      ['maps of labels', '/api/labels'],
    ];
    for (const [what, address, body] of asked) {
      const times: number[] = [];
      let bytes = 0;
      for (let round = 0; round <= rounds; round++) {
        const start = performance.now();
        const { status, text } = await request(explorer.url, address, body === undefined ? {} : json(body));
        if (status !== 200) throw new Error(`${address} answered ${status}: ${text.slice(0, 200)}`);
        const { encoded } = JSON.parse(text) as Partial<Answer<'encoded'>>;
        if (encoded !== undefined && encoded !== SENTENCES) throw new Error(`${encoded} sentences were read`);
        if (round > 0) times.push(performance.now() - start);
        bytes = text.length;
      }
      yield told(`${what} (${Math.ceil(bytes / 1000)} kB sent)`, 'ms', median(times), MOST_MS);
    }
    yield told('memory of the server', 'MB', (process.memoryUsage().rss - before) / 1e6, 500);
  } finally {
    await explorer.close();
    small.remove();
  }
}

function told(what: string, unit: string, ours: number, most: number): Measurement {
  return {
    ...{ bench: `a million sentences: ${what}`, unit, ours: rounded(ours), peer: null, ratio: null },
    ...{ goal: `ours <= ${most}`, met: ours <= most },
  };
}
