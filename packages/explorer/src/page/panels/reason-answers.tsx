import { useState } from 'preact/hooks';
import type { Client, Graph } from '../client.ts';
import { MISSING_LINK } from '../graph/looks.ts';
import { titleIn } from '../labels.ts';
import { Press, useFew } from '../parts.tsx';
import { usePanel } from './panel.ts';

export type Reasoned = Awaited<ReturnType<Client['reason']>>;
export type Result = Reasoned['results'][number];
type Candidate = Result['candidates'][number];

/** The symbols of a walk without its stays: what is drawn of it. */
export const movesIn = (walk: readonly number[]): number[] => movesOf(walk).map((at) => walk[at]!);

/** Different objects, the most probable first; the open one tells its walk and the training events like it. */
export function Answers({ result }: { result: Result }) {
  const { showWalk, graph } = usePanel();
  const [open, setOpen] = useState<number | null>(0);
  return (
    <ol class="answers" onMouseLeave={() => showWalk(null)}>
      {result.candidates.map((one, at) => (
        <li key={at} onMouseEnter={() => showWalk(movesIn(one.walk))}>
          <Press
            class="sentence"
            aria-expanded={open === at}
            title="Its path, and what it is like"
            onFocus={() => showWalk(movesIn(one.walk))}
            onBlur={() => showWalk(null)}
            onClick={() => setOpen(open === at ? null : at)}
          >
            <span class="rank number">{at + 1}</span>
            <span class="sentence-text">{one.object || '(nothing)'}</span>
          </Press>
          {open === at && graph ? <Open graph={graph} relation={result.relation} candidate={one} /> : null}
        </li>
      ))}
    </ol>
  );
}

interface OpenProps {
  graph: Graph;
  relation: string;
  candidate: Candidate;
}

function Open({ graph, relation, candidate }: OpenProps) {
  const { change } = usePanel();
  const { walk, like } = candidate;
  const edit = (at: number, symbol: number) =>
    change({ relations: [relation], along: [...walk.slice(0, at), symbol] });
  return (
    <div class="answer-notes">
      <Path graph={graph} walk={walk} onChange={edit} />
      {like.length === 0 ? null : (
        <ul class="like" aria-label="Events read in training that go a like way">
          {like.map(({ event, object, same }) => (
            <li key={event} class="alike">
              {event} → {object}{' '}
              <span class="faint">
                ({same} of {walk.length} steps the same)
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

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
            <Press
              class="walk-step"
              aria-label={`Step ${step + 1}: ${titleIn(graph, walk[at]!)}`}
              aria-expanded={open === at}
              onClick={() => setOpen(open === at ? null : at)}
            >
              {titleIn(graph, walk[at]!)}
            </Press>
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
  const choices = choicesOf(graph, walk, at);
  const { shown, more } = useFew(choices, FEW);
  return (
    <div class="alternatives">
      <p class="faint">
        {choices.length === 0
          ? 'Nothing else can stand here.'
          : `Go on with another theme at step ${movesOf(walk).indexOf(at) + 1}:`}
      </p>
      <p class="chips">
        {shown.map((symbol) => (
          <Press key={symbol} data-symbol={symbol} onClick={() => onChoose(symbol)}>
            {titleIn(graph, symbol)}
          </Press>
        ))}
        {more}
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
