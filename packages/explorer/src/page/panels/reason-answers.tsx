import { useState } from 'preact/hooks';
import type { Client, Graph } from '../client.ts';
import type { PanelProps } from './panel.ts';
import { movesOf, Path } from './reason-path.tsx';

export type Reasoned = Awaited<ReturnType<Client['reason']>>;
export type Result = Reasoned['results'][number];
type Candidate = Result['candidates'][number];

/** The symbols of a walk without its stays: what is drawn of it. */
export const movesIn = (walk: readonly number[]): number[] => movesOf(walk).map((at) => walk[at]!);

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
        <li key={at} onMouseEnter={() => showWalk(movesIn(one.walk))}>
          <button
            type="button"
            class="sentence"
            aria-expanded={open === at}
            title="Its path, and what it is like"
            onFocus={() => showWalk(movesIn(one.walk))}
            onBlur={() => showWalk(null)}
            onClick={() => setOpen(open === at ? null : at)}
          >
            <span class="rank number">{at + 1}</span>
            <span class="sentence-text">{one.object || '(nothing)'}</span>
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
