import { communityColour } from '@hidden-schema/studies/drawing';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SymbolFacts } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { percent, title } from '../labels.ts';
import { EditBar } from '../levels/edit-bar.tsx';
import { SymbolEdits } from '../levels/symbol-edits.tsx';
import { useLoaded } from '../loading.ts';
import { Bar, Dot, Show, SymbolLink } from '../parts.tsx';
import { flowsOf } from '../texts/flows.ts';
import { LabelShares, Meaning } from './meaning.tsx';
import type { PanelProps } from './panel.ts';
import { Passing } from './passing.tsx';
import { Positions } from './positions.tsx';
import { Themes } from './themes.tsx';
import { SymbolOverTime } from './time.tsx';

const FEW_NEIGHBOURS = 12;

/** What a symbol means: its words or tokens, neighbours, labels, positions and sentences. */
export function SymbolPanel(props: PanelProps) {
  const { client, view, graph, run } = props;
  const symbol = view.symbol;
  const loaded = useLoaded(
    symbol === null ? null : `${symbol}@${run.opened?.identity} ${run.opened?.step}`,
    (signal) => client.symbol(symbol!, signal),
  );
  if (symbol === null) return <Themes {...props} />;
  const current = graph?.nodes[symbol];
  return (
    <Show of={loaded} what="Reading the theme …">
      {(value) => <Facts {...props} symbol={{ ...value, name: current ? current.name : value.name }} />}
    </Show>
  );
}

export type FactProps = PanelProps & { symbol: SymbolFacts };

function Facts(props: FactProps) {
  const { symbol, change, run, dark, graph, edits } = props;
  const node = graph?.nodes[symbol.symbol];
  const heading = symbol.name ?? (node ? title(node) : '');
  const read = (text: string) => change({ panel: 'sentence', text });
  return (
    <article class="symbol" data-symbol={symbol.symbol}>
      <header>
        <button type="button" class="plain back" onClick={() => change({ symbol: null })}>
          ← All themes
        </button>
        <h2>
          <Dot colour={communityColour(symbol.community)} /> <span class="name">{heading || 'Theme'}</span>{' '}
          <span class="faint number">no. {symbol.symbol}</span>
        </h2>
        <EditBar edits={edits} />
      </header>
      <Meaning symbol={symbol} />
      <LinksInWords {...props} />
      <LabelShares symbol={symbol} labels={props.labels} />
      {props.time ? <SymbolOverTime {...props} time={props.time} of={symbol.symbol} /> : null}
      <h3>Texts that say so</h3>
      <Examples symbol={symbol} onRead={read} />
      {run.opened?.features.includes('encoded') ? (
        <Passing key={symbol.symbol} {...props} onRead={read} />
      ) : null}
      <Editing {...props} />
      <details class="fold">
        <summary>All neighbours, and where in texts it comes</summary>
        <Neighbours key={symbol.symbol} {...props} />
        <Positions values={symbol.usageByPosition} dark={dark} />
        <p class="faint">
          {percent(symbol.usage)} of all steps, over {symbol.sample.toLocaleString('en')} texts
        </p>
      </details>
    </article>
  );
}

/** Its name, and edits that make two themes of it or one of two; folded until someone wants to. */
const Editing = ({ symbol, graph, edits, run }: FactProps) => (
  <details class="fold editing">
    <summary>
      {run.opened?.features.includes('levels') ? 'Rename, merge or split this theme' : 'Rename this theme'}
    </summary>
    <Rename key={symbol.symbol} {...{ symbol, edits }} />
    {run.opened?.features.includes('levels') ? (
      <SymbolEdits key={`edit ${symbol.symbol}`} {...{ symbol, graph, edits }} />
    ) : null}
  </details>
);

const FEW_FLOWS = 5;

/** Which themes texts go to from this one and come from, in words. */
function LinksInWords({ symbol, graph, texts, goTo }: FactProps) {
  const data = texts?.data.symbols === graph?.nodes.length ? texts?.data : undefined;
  const flows = useMemo(() => (data ? flowsOf(data, symbol.symbol) : null), [data, symbol.symbol]);
  if (!flows || !graph) return null;
  const directions = [
    { what: 'Often followed by', flow: flows.after },
    { what: 'Often comes after', flow: flows.before },
  ];
  return (
    <div class="flows">
      {directions.map(({ what, flow }) =>
        flow.length === 0 ? null : (
          <p key={what}>
            {what}{' '}
            {flow.slice(0, FEW_FLOWS).map(({ symbol: other, share }, at) => (
              <>
                {at > 0 ? ', ' : ''}
                <button type="button" class="plain" onClick={() => goTo(other)}>
                  {title(graph.nodes[other]!)}
                </button>{' '}
                <span class="faint number">({percent(share)} of its texts)</span>
              </>
            ))}
            .
          </p>
        ),
      )}
    </div>
  );
}

function Neighbours({ symbol, graph, goTo }: FactProps) {
  const [all, setAll] = useState(false);
  const { neighbours } = symbol;
  const nameOf = (next: (typeof neighbours)[number]) => title(graph?.nodes[next.symbol] ?? next);
  const rows = () => [
    ['symbol', 'words', 'probability', 'share of moves'],
    ...neighbours.map((next) => [next.symbol, nameOf(next), next.probability, next.traversals]),
  ];
  const shown = all ? neighbours : neighbours.slice(0, FEW_NEIGHBOURS);
  return (
    <>
      <TableHead name={`neighbours-${symbol.symbol}`} rows={rows}>
        Neighbours
      </TableHead>
      {neighbours.length === 0 ? <p class="faint">No link reaches this theme.</p> : null}
      <table class="neighbours">
        <tbody>
          {shown.map((next) => (
            <tr key={next.symbol}>
              <td>
                <SymbolLink symbol={next.symbol} label={nameOf(next)} onChoose={goTo} />
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

function Rename({ symbol, edits }: Pick<FactProps, 'symbol' | 'edits'>) {
  const [text, setText] = useState(symbol.name ?? '');
  useEffect(() => setText(symbol.name ?? ''), [symbol.name]);
  const save = (event: Event) => {
    event.preventDefault();
    void edits.rename(symbol.symbol, text, symbol.identity);
  };
  return (
    <form class="rename" onSubmit={save}>
      <input
        aria-label="Name of this theme"
        placeholder="Give it a name"
        maxLength={80}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={edits.busy !== null || text.trim() === (symbol.name ?? '')}>
        Save
      </button>
    </form>
  );
}

function Examples({ symbol, onRead }: { symbol: SymbolFacts; onRead(text: string): void }) {
  if (symbol.examples.length === 0)
    return <p class="faint">None of the {symbol.sample} texts that were read passes here.</p>;
  return (
    <ul class="examples">
      {symbol.examples.map(({ index, text, tokens, label, positions }) => (
        <li key={index}>
          <button type="button" class="sentence" onClick={() => onRead(text)} title="Show its walk">
            <span class="sentence-text">
              {tokens
                ? tokens.map((token, at) => <>{positions.includes(at) ? <mark>{token}</mark> : token} </>)
                : text}
            </span>
            {label === null ? null : <span class="tag">{label}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
