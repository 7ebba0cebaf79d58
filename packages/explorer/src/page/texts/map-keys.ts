import type { Change } from '../state.ts';
import { moved, WHOLE, zoomed } from './camera.ts';
import { selectedTexts } from './filter.ts';
import type { MapView } from './map-view.ts';
import { remember } from './use-pointers.ts';
import { NOTHING_ASKED, type Texts } from './use-texts.ts';

/** All of the map. */
export function showAll(map: MapView, change: Change): void {
  map.camera = WHOLE;
  change({ mapat: null });
}

interface KeyTarget {
  map: MapView | null;
  texts: Texts;
  /** The text that the keys are on. */
  at: number | null;
  onStep(n: number): void;
  onOpen(n: number): void;
  /** K, the one that is looked at, and what selects another. */
  symbols: { of: number; at: number | null; onSelect(symbol: number): void };
  change: Change;
}

const PAN = 60;

/** What a key does on the map. */
export function onMapKey(
  event: KeyboardEvent,
  { map, texts, at, onStep, onOpen, change, symbols }: KeyTarget,
): void {
  if (!map || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = (camera: typeof map.camera) => {
    map.camera = camera;
    remember(map, change);
  };
  const pan = (dx: number, dy: number) => () => go(moved(map.camera, map.size, [dx * PAN, dy * PAN]));
  const step = (by: number) => () => {
    if (texts.count === 0) return;
    const order = selectedTexts(texts.selected, 0, texts.count);
    const place = at === null ? (by > 0 ? -1 : 0) : order.indexOf(at);
    onStep(order[(place + by + order.length) % order.length]!);
  };
  const turn = (by: number) => () =>
    symbols.onSelect(symbols.at === null ? 0 : (symbols.at + by + symbols.of) % symbols.of);
  const keys: Readonly<Record<string, () => void>> = {
    ...{ ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1) },
    ...{
      s: turn(1),
      S: turn(-1),
      n: step(1),
      p: step(-1),
      '0': () => showAll(map, change),
      Escape: () => change(NOTHING_ASKED),
    },
    '+': () => go(zoomed(map.camera, map.size, 1.33)),
    '=': () => go(zoomed(map.camera, map.size, 1.33)),
    '-': () => go(zoomed(map.camera, map.size, 0.75)),
    Enter: () => {
      if (at !== null) onOpen(at);
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
