import { useEffect, useState } from 'preact/hooks';
import { client, type SymbolFacts } from '../client.ts';
import { communityColour } from '../graph/scene.ts';
import { percent, title } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Bar, Empty, Show, SymbolLink } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

const FEW_NEIGHBOURS = 12;

/** What a symbol means: its tokens, neighbours, positions and sentences. */
export function SymbolPanel(props: PanelProps) {
  const { view, graph, run } = props;
  const symbol = view.symbol;
  const loaded = useLoaded(symbol === null ? null : `${symbol}@${run.opened?.step}`, (signal) =>
    client.symbol(symbol!, signal),
  );
  if (symbol === null) return <MostUsed {...props} />;
  const current = graph?.nodes[symbol];
  return (
    <Show of={loaded} what="Reading the symbol …">
      {(value) => <Facts {...props} symbol={{ ...value, name: current ? current.name : value.name }} />}
    </Show>
  );
}

function MostUsed({ graph, goTo }: PanelProps) {
  if (!graph) return <Empty>The graph is not there yet.</Empty>;
  const top = graph.nodes.toSorted((a, b) => b.usage - a.usage).slice(0, 15);
  return (
    <>
      <p class="faint">Click a symbol in the graph, or search for one. The most used:</p>
      <table>
        <thead>
          <tr>
            <th>Symbol</th>
            <th>Share of walk steps</th>
          </tr>
        </thead>
        <tbody>
          {top.map((node) => (
            <tr key={node.symbol}>
              <td>
                <SymbolLink symbol={node.symbol} label={title(node)} onChoose={goTo} />
              </td>
              <td>
                <Bar of={node.usage} most={top[0]!.usage} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Facts({ symbol, goTo, renamed, graph, change }: PanelProps & { symbol: SymbolFacts }) {
  return (
    <article class="symbol" data-symbol={symbol.symbol}>
      <header>
        <h2>
          <Dot community={symbol.community} /> Symbol {symbol.symbol}
          {symbol.name === null ? null : <span class="name"> {symbol.name}</span>}
        </h2>
        <Rename key={symbol.symbol} symbol={symbol} renamed={renamed} />
      </header>
      <h3>Tokens</h3>
      <ul class="tokens">
        {symbol.tokens.map(({ token, probability }) => (
          <li key={token} title={`probability ${probability}`}>
            {token} <span class="faint number">{percent(probability)}</span>
          </li>
        ))}
      </ul>
      <h3>Usage by position in the walk</h3>
      <Positions values={symbol.usageByPosition} />
      <p class="faint">
        {percent(symbol.usage)} of all steps, over {symbol.sample} sentences
      </p>
      <h3>Neighbours</h3>
      <Neighbours key={symbol.symbol} {...{ symbol, graph, goTo }} />
      <h3>Sentences</h3>
      <Examples symbol={symbol} onRead={(text) => change({ panel: 'sentence', text })} />
    </article>
  );
}

type NeighbourProps = Pick<PanelProps, 'graph' | 'goTo'> & { symbol: SymbolFacts };

function Neighbours({ symbol, graph, goTo }: NeighbourProps) {
  const [all, setAll] = useState(false);
  const { neighbours } = symbol;
  if (neighbours.length === 0) return <p class="faint">No link reaches this symbol.</p>;
  const shown = all ? neighbours : neighbours.slice(0, FEW_NEIGHBOURS);
  return (
    <>
      <table class="neighbours">
        <tbody>
          {shown.map((next) => (
            <tr key={next.symbol}>
              <td>
                <SymbolLink
                  symbol={next.symbol}
                  label={title(graph?.nodes[next.symbol] ?? next)}
                  onChoose={goTo}
                />
              </td>
              <td>
                <Bar of={next.probability} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < neighbours.length ? (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          {neighbours.length - shown.length} more
        </button>
      ) : null}
    </>
  );
}

const Dot = ({ community }: { community: number }) => (
  <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
    <circle cx="5" cy="5" r="5" fill={communityColour(community)} />
  </svg>
);

function Rename({ symbol, renamed }: { symbol: SymbolFacts; renamed: PanelProps['renamed'] }) {
  const [text, setText] = useState(symbol.name ?? '');
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => setText(symbol.name ?? ''), [symbol.name]);
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      const { name } = await client.rename(symbol.symbol, text);
      setFault(null);
      renamed(symbol.symbol, name);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form class="rename" onSubmit={save}>
      <input
        aria-label="Name of this symbol"
        placeholder="Give it a name"
        maxLength={80}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={text.trim() === (symbol.name ?? '')}>
        Save
      </button>
      {fault === null ? null : (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}

function Positions({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 1e-9);
  const width = 100 / values.length;
  return (
    <svg
      class="positions"
      viewBox="0 0 100 34"
      preserveAspectRatio="none"
      role="img"
      aria-label="Usage by position"
    >
      {values.map((value, at) => {
        const height = (30 * value) / most;
        return (
          <rect key={at} x={at * width + width * 0.1} y={32 - height} width={width * 0.8} height={height}>
            <title>{`step ${at + 1}: ${percent(value)}`}</title>
          </rect>
        );
      })}
      <path d="M0 32.5H100" />
    </svg>
  );
}

function Examples({ symbol, onRead }: { symbol: SymbolFacts; onRead(text: string): void }) {
  if (symbol.examples.length === 0)
    return <p class="faint">None of the {symbol.sample} sentences that were read passes here.</p>;
  return (
    <ul class="examples">
      {symbol.examples.map(({ index, tokens, positions }) => (
        <li key={index}>
          <button
            type="button"
            class="sentence"
            onClick={() => onRead(tokens.join(' '))}
            title="Show its walk"
          >
            {tokens.map((token, at) => (
              <>{positions.includes(at) ? <mark>{token}</mark> : token} </>
            ))}
          </button>
        </li>
      ))}
    </ul>
  );
}
