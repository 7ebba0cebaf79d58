import { useEffect, useState } from 'preact/hooks';
import type { Graph } from '../client.ts';
import { findSymbols } from '../find-symbols.ts';
import { MISSING_LINK } from '../graph/looks.ts';
import { linkOf } from '../graph/scene.ts';
import { percent, title } from '../labels.ts';
import { Empty, SymbolLink } from '../parts.tsx';
import type { PanelProps } from './panel.ts';
import { Sampling } from './sampling.tsx';
import { Written } from './written.tsx';

/** A walk made by hand, and sentences about it. */
export function ComposePanel(props: PanelProps) {
  const { graph, view, change, run, showWalk } = props;
  const { walk } = view;
  useEffect(() => {
    showWalk(walk.length > 0 ? walk : null);
    return () => showWalk(null);
  }, [walk.join(' '), showWalk]);
  if (!graph) return <Empty>The graph is not there yet.</Empty>;
  const missing = walk.some((to, at) => at > 0 && linkOf(graph, walk[at - 1]!, to) < MISSING_LINK);
  return (
    <section class="composer" aria-label="Compose">
      <p class="faint">
        Click symbols in the graph to make a walk, or add them here; this run’s walks have {run.opened?.walk}{' '}
        steps.
      </p>
      <Add nodes={graph.nodes} onAdd={(symbol) => change({ walk: [...walk, symbol] })} />
      {walk.length === 0 ? (
        <Empty>No step yet.</Empty>
      ) : (
        <>
          <Steps {...props} graph={graph} />
          <Sampling view={view} change={change} />
          <Written key={walk.join(' ')} {...props} missing={missing} />
        </>
      )}
    </section>
  );
}

function Add({ nodes, onAdd }: { nodes: Graph['nodes']; onAdd(symbol: number): void }) {
  const [query, setQuery] = useState('');
  const found = findSymbols(nodes, query);
  const add = (event: Event) => {
    event.preventDefault();
    if (!found[0]) return;
    onAdd(found[0].symbol);
    setQuery('');
  };
  return (
    <form class="rename" onSubmit={add}>
      <input
        aria-label="Symbol to add"
        placeholder="Number, name or word of a symbol"
        autocomplete="off"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <button type="submit" disabled={found.length === 0}>
        {found[0] ? `Add ${found[0].symbol} ${title(found[0])}`.trim() : 'Add'}
      </button>
    </form>
  );
}

function Steps({ graph, view, change, goTo }: PanelProps & { graph: Graph }) {
  const { walk } = view;
  const without = (at: number) => change({ walk: walk.filter((_, other) => other !== at) });
  return (
    <>
      <ol class="steps" data-walk={walk.join(' ')}>
        {walk.map((symbol, at) => {
          const node = graph.nodes[symbol];
          const link = at === 0 ? 1 : linkOf(graph, walk[at - 1]!, symbol);
          return (
            <li key={at} class={link < MISSING_LINK ? 'no-link' : ''}>
              {at > 0 ? (
                <span class="link-note" title="Probability of the link from the step before">
                  {link < MISSING_LINK ? `no link (${percent(link)})` : percent(link)}
                </span>
              ) : null}
              <SymbolLink symbol={symbol} label={node ? title(node) : 'unknown'} onChoose={goTo} />
              <button
                type="button"
                class="plain"
                aria-label={`Take step ${at + 1} away`}
                onClick={() => without(at)}
              >
                ×
              </button>
            </li>
          );
        })}
      </ol>
      <span class="buttons">
        <button type="button" onClick={() => change({ walk: walk.slice(0, -1) })}>
          Take the last away
        </button>
        <button type="button" onClick={() => change({ walk: [] })}>
          Clear
        </button>
      </span>
    </>
  );
}
