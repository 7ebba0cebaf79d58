import type { GraphView } from './view.ts';

interface KeyTarget {
  view: GraphView | null;
  selected: number | null;
  symbols: number;
  /** The symbol that the keys are on. */
  onStep(symbol: number): void;
  onSelect(symbol: number | null): void;
}

/** What a key does on the graph. */
export function onGraphKey(event: KeyboardEvent, target: KeyTarget): void {
  const { view, selected, symbols, onStep, onSelect } = target;
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = (by: number) => {
    const symbol = selected === null ? 0 : (selected + by + symbols) % symbols;
    onStep(symbol);
    view.flyTo(symbol);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => view.pan(-0.1, 0),
    ArrowRight: () => view.pan(0.1, 0),
    ArrowUp: () => view.pan(0, -0.1),
    ArrowDown: () => view.pan(0, 0.1),
    '+': () => view.zoom(0.75),
    '=': () => view.zoom(0.75),
    '-': () => view.zoom(1.33),
    '0': () => view.reset(),
    n: () => step(1),
    p: () => step(-1),
    Enter: () => {
      if (selected !== null) onSelect(selected);
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
