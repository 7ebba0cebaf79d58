import { useState } from 'preact/hooks';
import type { Client, Graph } from '../client.ts';
import { MISSING_LINK } from '../graph/looks.ts';
import { decimal, title } from '../labels.ts';
import type { PanelProps } from './panel.ts';

export type Reasoned = Awaited<ReturnType<Client['reason']>>;
export type Result = Reasoned['results'][number];
type Candidate = Result['candidates'][number];

/** A symbol as the graph calls it. */
export const wordsOf = ({ nodes }: Graph, symbol: number): string =>
  nodes[symbol] ? title(nodes[symbol]) : '';

export interface ResultProps extends PanelProps {
  result: Result;
}

/** Different objects, the most probable first; the open one tells its walk and the training events like it. */
export function Answers({ result, ...props }: ResultProps) {
  const { showWalk, graph } = props;
  const [open, setOpen] = useState<number | null>(0);
  return (
    <ol class="answers" onMouseLeave={() => showWalk(null)}>
      {result.candidates.map((one, at) => (
        <li key={at} onMouseEnter={() => showWalk(one.walk)}>
          <button
            type="button"
            class="sentence"
            aria-expanded={open === at}
            title="Its walk, and what it is like"
            onFocus={() => showWalk(one.walk)}
            onBlur={() => showWalk(null)}
            onClick={() => setOpen(open === at ? null : at)}
          >
            <span class="rank number">{at + 1}</span>
            <span class="sentence-text">{one.object || '(nothing)'}</span>
            <span class="tag number" title="log p of walk and object">
              {decimal(Number(one.score.toFixed(2)))}
            </span>
          </button>
          {open === at && graph ? (
            <Open {...props} graph={graph} relation={result.relation} candidate={one} />
          ) : null}
        </li>
      ))}
    </ol>
  );
}

interface OpenProps extends PanelProps {
  graph: Graph;
  relation: string;
  candidate: Candidate;
}

function Open({ graph, relation, candidate, change }: OpenProps) {
  const { walk, like } = candidate;
  const edit = (at: number, symbol: number) =>
    change({ relations: [relation], along: [...walk.slice(0, at), symbol] });
  return (
    <div class="told">
      <ol class="walked" data-walk={walk.join(' ')} aria-label="Walk; choose another symbol to go on from it">
        {walk.map((symbol, at) => (
          <li key={at} class={at < walk.length / 2 ? '' : 'second'}>
            <select
              aria-label={`Step ${at + 1}`}
              value={symbol}
              onChange={(event) => edit(at, Number(event.currentTarget.value))}
            >
              {choicesOf(graph, walk, at).map((other) => (
                <option key={other} value={other}>
                  {`${other} ${wordsOf(graph, other)}`.trim()}
                </option>
              ))}
            </select>
          </li>
        ))}
      </ol>
      {like.length === 0 ? null : (
        <ul class="like" aria-label="Training events that walk alike">
          {like.map(({ event, object, same }) => (
            <li key={event} class="alike">
              {event} → {object} <span class="tag number">{`${same}/${walk.length}`}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Symbols that a step may have: those with a link from the step before, all for the first. */
function choicesOf({ nodes, links }: Graph, walk: readonly number[], at: number): number[] {
  const own = walk[at]!;
  if (at === 0) return nodes.map(({ symbol }) => symbol);
  const before = walk[at - 1]!;
  const near = links.flatMap(([i, j, probability]) => {
    if (probability < MISSING_LINK) return [];
    return i === before ? [j] : j === before ? [i] : [];
  });
  return [...new Set([own, ...near])].sort((a, b) => a - b);
}
