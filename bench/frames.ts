import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { startExplorer } from '@hidden-schema/explorer';
import type { Answer } from '@hidden-schema/explorer/api';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../packages/explorer/test/chromium.ts';
import { whenOpened } from '../packages/explorer/test/requests.ts';
import { makeSmallRun } from '../packages/explorer/test/small-run.ts';
import { graphAnswer, serveMap, TEXTS } from './map-frames.ts';
import { type BenchOptions, type Measurement, median } from './measure.ts';

const NODES = 10_000;
const LINKS = 30_000;
const ACTS = 12;

/** A graph as a run of ten thousand symbols would send it: groups of symbols, links mostly within them. */
function generated(): Answer<'graph'> {
  const random = new Random(1);
  const groups = 40;
  const centres = Array.from({ length: groups }, () => [random.next(), random.next()] as const);
  const layout = Array.from({ length: NODES }, (_, k) => centres[k % groups]!)
    .flatMap(([x, y]) => [x + 0.06 * (random.next() - 0.5), y + 0.06 * (random.next() - 0.5)])
    .map((value) => Number(value.toFixed(5)));
  const pairs = new Map<string, [number, number, number]>();
  while (pairs.size < LINKS) {
    const i = random.int(NODES);
    const near = (i + groups * (1 + random.int(50))) % NODES;
    const j = random.next() < 0.9 ? near : random.int(NODES);
    if (i !== j) pairs.set(`${Math.min(i, j)} ${Math.max(i, j)}`, [Math.min(i, j), Math.max(i, j), 0.99]);
  }
  const nodes = Array.from({ length: NODES }, (_, symbol) => ({
    ...{ symbol, name: null, tokens: [`word${symbol}`], usage: random.next() / NODES },
    community: symbol % groups,
  }));
  return graphAnswer({ nodes, links: [...pairs.values()], layout });
}

interface Frames {
  /** Milliseconds between frames. */
  times: number[];
  /** Milliseconds that all of the browser's processes worked for each frame: what a busy machine does not change. */
  work: number;
}

/** Milliseconds that the browser's processes have worked so far. */
async function worked(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0);
}

/** Frames while something is done to the page. */
async function frames(page: Page, act: (at: number) => Promise<void>): Promise<Frames> {
  await page.evaluate(
    'globalThis.times = []; globalThis.tick = (now) => { times.push(now); globalThis.ticking = requestAnimationFrame(tick) }; requestAnimationFrame(tick)',
  );
  const before = await worked(page.context().browser()!);
  for (let at = 0; at < ACTS; at++) {
    await act(at);
    await page.waitForTimeout(150);
  }
  const after = await worked(page.context().browser()!);
  const times = await page.evaluate<number[]>('(cancelAnimationFrame(ticking), times)');
  return { times: times.slice(1).map((now, at) => now - times[at]!), work: (after - before) / times.length };
}

/** How smoothly ten thousand symbols move in headless Chromium, which draws without a graphics card. */
export async function* run(_: BenchOptions): AsyncGenerator<Measurement> {
  const executablePath = findChromium();
  if (!executablePath) {
    process.stderr.write('no frames: Chromium is missing; install it (Debian: apt install chromium)\n');
    return;
  }
  const small = await makeSmallRun();
  const explorer = await startExplorer({ run: small.run });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await whenOpened(explorer.url);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const body = JSON.stringify(generated());
    await page.route('**/api/graph', (route) => route.fulfill({ contentType: 'application/json', body }));
    await page.goto(explorer.url);
    await page.waitForSelector(`.canvas[data-nodes="${NODES}"]`, { timeout: 300_000 });
    await page.waitForTimeout(1500);
    const canvas = page.locator('.canvas');
    await canvas.focus();
    const keys = ['ArrowLeft', '+', 'ArrowRight', '-'];
    const moving = await frames(page, (at) => page.keyboard.press(keys[at % keys.length]!));
    const box = (await canvas.boundingBox())!;
    const pointing = await frames(page, (at) =>
      page.mouse.move(box.x + box.width * ((at * 0.37) % 1), box.y + box.height * ((at * 0.61) % 1)),
    );
    yield measured(`frames: moving ${NODES} symbols and ${LINKS} links`, moving, 50);
    yield measured(`frames: pointing at ${NODES} symbols`, pointing, 50);
    await page.close();
    yield* mapFrames(browser, explorer.url);
  } finally {
    await browser.close();
    await explorer.close();
    fs.rmSync(small.folder, { recursive: true, force: true });
  }
}

/** Half a second in which every frame has something new to draw. */
async function eachFrame(page: Page, kind: 'pointermove' | 'wheel', [x, y]: [number, number]): Promise<void> {
  const Kind = kind === 'wheel' ? 'WheelEvent' : 'PointerEvent';
  await page.evaluate(`new Promise((done) => {
    const map = document.querySelector('.text-canvas');
    let left = 30;
    const step = () => {
      const place = { clientX: ${x} + 3 * left, clientY: ${y} + 2 * left, pointerId: 1, pointerType: 'mouse' };
      map.dispatchEvent(new ${Kind}('${kind}', { ...place, deltaY: left % 20 < 10 ? -40 : 40, cancelable: true }));
      if (--left > 0) requestAnimationFrame(step); else done();
    };
    requestAnimationFrame(step);
  })`);
}

/** Milliseconds from asking for the page to the map with its names; the run is open, and its map made. */
async function firstView(page: Page, url: string): Promise<Measurement> {
  const began = performance.now();
  await page.goto(url);
  await page.waitForSelector(`.text-canvas[data-texts="${TEXTS}"] canvas[data-names]`, { timeout: 300_000 });
  const ours = Math.round(performance.now() - began);
  return {
    ...{ bench: `frames: first view of ${TEXTS} texts`, unit: 'ms', ours, peer: null, ratio: null },
    ...{ goal: 'ours <= 3000', met: ours <= 3000 },
  };
}

/** How smoothly the map of a hundred thousand texts moves, zooms and tells what is pointed at. */
async function* mapFrames(browser: Browser, url: string): AsyncGenerator<Measurement> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await serveMap(page);
  yield await firstView(page, url);
  await page.waitForTimeout(1500);
  const box = (await page.locator('.text-canvas').boundingBox())!;
  const at = (turn: number): [number, number] => [
    box.x + box.width * (0.2 + ((turn * 0.37) % 0.6)),
    box.y + box.height * (0.2 + ((turn * 0.61) % 0.6)),
  ];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  const dragging = await frames(page, (turn) => eachFrame(page, 'pointermove', at(turn)));
  await page.mouse.up();
  const zooming = await frames(page, (turn) => eachFrame(page, 'wheel', at(turn)));
  const pointing = await frames(page, (turn) => page.mouse.move(...at(turn), { steps: 4 }));
  await page.close();
  yield measured(`frames: dragging the map of ${TEXTS} texts`, dragging, 33);
  yield measured(`frames: zooming the map of ${TEXTS} texts`, zooming, 33);
  yield measured(`frames: pointing at the map of ${TEXTS} texts`, pointing, 33);
}

function measured(bench: string, { times, work }: Frames, goal: number): Measurement {
  const slow = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
  const told = `median ${median(times).toFixed(0)} ms, 95 % under ${slow.toFixed(0)} ms apart`;
  const ours = Number(work.toPrecision(4));
  return {
    ...{ bench: `${bench} (${times.length} frames, ${told})`, unit: 'ms of work a frame', ours },
    ...{ peer: null, ratio: null, goal: `ours <= ${goal}`, met: ours <= goal },
  };
}
