import { useState } from 'preact/hooks';
import type { Graph } from '../client.ts';
import { MISSING_LINK } from '../graph/looks.ts';
import { titleIn } from '../labels.ts';

interface PathProps {
  graph: Graph;
  walk: readonly number[];
  /** Another symbol was chosen at a step: answers are written anew from there. */
  onChange(at: number, symbol: number): void;
}

/** Where a walk comes to another symbol: its steps without those that stay. */
export const movesOf = (walk: readonly number[]): number[] =>
  walk.flatMap((symbol, at) => (symbol === walk[at - 1] ? [] : [at]));

/** Alternatives that are shown until more are asked for. */
const FEW = 8;

/** The path of one answer in words. A press on a step shows what could stand there instead. */
export function Path({ graph, walk, onChange }: PathProps) {
  const [open, setOpen] = useState<number | null>(null);
  return (
    <>
      <ol class="walked" data-walk={walk.join(' ')} aria-label="Its path">
        {movesOf(walk).map((at, step) => (
          <li key={at} class={at < walk.length / 2 ? '' : 'second'}>
            <button
              type="button"
              class="walk-step"
              aria-label={`Step ${step + 1}: ${titleIn(graph, walk[at]!)}`}
              aria-expanded={open === at}
              onClick={() => setOpen(open === at ? null : at)}
            >
              {titleIn(graph, walk[at]!) || walk[at]}
            </button>
          </li>
        ))}
      </ol>
      {open === null ? null : (
        <Alternatives
          key={open}
          {...{ graph, walk, at: open }}
          onChoose={(symbol) => onChange(open, symbol)}
        />
      )}
    </>
  );
}

interface AlternativesProps extends Omit<PathProps, 'onChange'> {
  at: number;
  onChoose(symbol: number): void;
}

function Alternatives({ graph, walk, at, onChoose }: AlternativesProps) {
  const [all, setAll] = useState(false);
  const choices = choicesOf(graph, walk, at);
  const shown = all ? choices : choices.slice(0, FEW);
  return (
    <div class="alternatives">
      <p class="faint">
        {choices.length === 0
          ? 'Nothing else can stand here.'
          : `Go on with another theme at step ${movesOf(walk).indexOf(at) + 1}:`}
      </p>
      <p class="chips">
        {shown.map((symbol) => (
          <button key={symbol} type="button" data-symbol={symbol} onClick={() => onChoose(symbol)}>
            {titleIn(graph, symbol) || symbol}
          </button>
        ))}
        {shown.length < choices.length ? (
          <button type="button" class="plain" onClick={() => setAll(true)}>
            {choices.length - shown.length} more
          </button>
        ) : null}
      </p>
    </div>
  );
}

/** Other symbols that a step may have, the most probable link from the step before first; all, by use, at the first step. */
function choicesOf({ nodes, links }: Graph, walk: readonly number[], at: number): number[] {
  const own = walk[at]!;
  if (at === 0)
    return nodes
      .filter(({ symbol }) => symbol !== own)
      .sort((a, b) => b.usage - a.usage || a.symbol - b.symbol)
      .map(({ symbol }) => symbol);
  const before = walk[at - 1]!;
  const near = links.flatMap(([i, j, probability]) => {
    if (probability < MISSING_LINK || (i !== before && j !== before)) return [];
    return [{ symbol: i === before ? j : i, probability }];
  });
  near.sort((a, b) => b.probability - a.probability || a.symbol - b.symbol);
  return [...new Set(near.map(({ symbol }) => symbol))].filter((symbol) => symbol !== own);
}
