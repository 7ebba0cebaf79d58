import { Random } from '@hidden-schema/base';
import type { Answer } from '@hidden-schema/explorer/api';
import type { Page } from 'playwright-core';

export const TEXTS = 100_000;
const SYMBOLS = 50;
const LENGTH = 5;

const base64 = ({ buffer, byteOffset, byteLength }: Uint16Array | Int16Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** A map as a run of a hundred thousand texts would send it: clouds of texts around the symbols they begin with. */
function generated(): Answer<'map'> {
  const random = new Random(2);
  const centres = Array.from({ length: SYMBOLS }, () => [random.next(), random.next()] as const);
  const places = new Uint16Array(2 * TEXTS);
  const walks = new Uint16Array(LENGTH * TEXTS);
  for (let n = 0; n < TEXTS; n++) {
    const first = random.int(SYMBOLS);
    for (const axis of [0, 1] as const) {
      const away = 0.05 * (random.next() + random.next() - 1);
      places[2 * n + axis] = Math.round(65_535 * Math.max(0, Math.min(1, centres[first]![axis] + away)));
    }
    for (let step = 0; step < LENGTH; step++)
      walks[n * LENGTH + step] = step === 0 ? first : random.int(SYMBOLS);
  }
  return {
    ...{
      step: 1,
      count: TEXTS,
      corpus: TEXTS,
      symbols: SYMBOLS,
      length: LENGTH,
      labels: ['a', 'b'],
      times: null,
    },
    ...{ places: base64(places), walks: base64(walks) },
    labelOf: base64(Int16Array.from({ length: TEXTS }, () => random.int(2))),
  };
}

/** A graph of the map's symbols. */
function graph(): Answer<'graph'> {
  const random = new Random(3);
  const nodes = Array.from({ length: SYMBOLS }, (_, symbol) => ({
    ...{ symbol, name: `subject ${symbol}`, tokens: [], usage: 1 / SYMBOLS, community: symbol % 6 },
  }));
  const layout = Array.from({ length: 2 * SYMBOLS }, () => random.next());
  const links = nodes.slice(1).map(({ symbol }): [number, number, number] => [symbol - 1, symbol, 0.9]);
  return graphAnswer({ nodes, links, layout });
}

/** A graph as the explorer's page is sent it. */
export function graphAnswer(parts: Pick<Answer<'graph'>, 'nodes' | 'links' | 'layout'>): Answer<'graph'> {
  const fixed = { step: 1, identity: '', linksLeftOut: 0, leastProbability: 0.01, truth: null };
  return { ...parts, ...fixed, strengths: parts.links.map(([i, j]) => [i, j, 20, 3, 2]) };
}

/** Gives a page the map in place of what its run has. */
export async function serveMap(page: Page): Promise<void> {
  const answer = (body: unknown) => ({ contentType: 'application/json', body: JSON.stringify(body) });
  const map = answer(generated());
  await page.route('**/api/map', (route) => route.fulfill(map));
  await page.route('**/api/graph', (route) => route.fulfill(answer(graph())));
  await page.route('**/api/texts', (route) => route.fulfill(answer({ step: 1, texts: [] })));
  await page.route('**/api/run', async (route) => {
    const run = (await (await route.fetch()).json()) as Answer<'run'>;
    run.opened?.features.push('map');
    await route.fulfill(answer(run));
  });
}
