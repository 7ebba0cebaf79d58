import { css } from '@hidden-schema/studies/drawing';
import { useMemo, useRef, useState } from 'preact/hooks';
import { openedWith, type SymbolFacts } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { tonesOf } from '../graph/colours.ts';
import { percent, title, titleIn } from '../labels.ts';
import { EditBar, SymbolEdits } from '../levels/symbol-edits.tsx';
import { latest, useLoaded } from '../loading.ts';
import { Bar, Dot, Failure, Press, SymbolLink, useFew, Waiting } from '../parts.tsx';
import { csvOf, DataTable } from '../tables.tsx';
import { type Flow, flowsOf } from '../texts/filter.ts';
import { LabelShares, Meaning } from './meaning.tsx';
import { usePanel } from './panel.ts';
import { Passing } from './passing.tsx';
import { Positions } from './positions.tsx';
import { Sentences, shortened } from './sentences.tsx';
import { Themes } from './themes.tsx';
import { SymbolOverTime } from './time.tsx';

const FEW_NEIGHBOURS = 12;

/** What a symbol means: its words or tokens, neighbours, labels, positions and sentences. */
export function SymbolPanel() {
  const { client, view, graph, run } = usePanel();
  const symbol = view.symbol;
  const loaded = useLoaded(
    symbol === null ? null : `${symbol}@${run.opened?.identity} ${run.opened?.step}`,
    (signal) => client.symbol({ k: symbol! }, signal),
  );
  const last = useRef<SymbolFacts | null>(null);
  last.current = latest(loaded) ?? last.current;
  if (symbol === null) return <Themes />;
  const current = graph?.nodes[symbol];
  const facts = latest(loaded) ?? (isOf(last.current, symbol, run.opened?.identity) ? last.current : null);
  return (
    <>
      {loaded.state === 'failed' ? <Failure message={loaded.message} /> : null}
      {facts ? <Facts symbol={{ ...facts, name: current ? current.name : facts.name }} /> : null}
      {facts === null && loaded.state === 'loading' ? <Waiting what="Reading the theme …" /> : null}
    </>
  );
}

/** Whether facts may stay where reading them again has failed: a form of theirs may have been typed into. */
const isOf = (facts: SymbolFacts | null, symbol: number, identity: string | undefined): boolean =>
  facts?.symbol === symbol && facts.identity === identity;

type FactProps = { symbol: SymbolFacts };

function Facts({ symbol }: FactProps) {
  const { change, run, graph, time, dark } = usePanel();
  const node = graph?.nodes[symbol.symbol];
  const heading = symbol.name ?? (node ? title(node) : '');
  const read = (text: string) => change({ panel: 'sentence', text });
  return (
    <article class="symbol" data-symbol={symbol.symbol}>
      <header>
        <Press class="plain back" onClick={() => change({ symbol: null })}>
          ← All themes
        </Press>
        <h2>
          <Dot colour={graph && node ? css(tonesOf(graph.nodes, dark)[symbol.symbol]!) : 'none'} />{' '}
          <span class="name">{heading || 'Theme'}</span> <span class="faint number">no. {symbol.symbol}</span>
        </h2>
        <EditBar />
      </header>
      <Meaning symbol={symbol} />
      <LinksInWords symbol={symbol} />
      <LabelShares symbol={symbol} />
      {time ? <SymbolOverTime time={time} of={symbol.symbol} /> : null}
      <h3>Texts that say so</h3>
      <Examples symbol={symbol} onRead={read} />
      {openedWith(run, 'encoded') ? (
        <Passing key={symbol.symbol} symbol={symbol.symbol} onRead={read} />
      ) : null}
      <Editing symbol={symbol} />
      <details class="fold">
        <summary>All neighbours, and where in texts it comes</summary>
        <Neighbours key={symbol.symbol} symbol={symbol} />
        <Positions values={symbol.usageByPosition} />
        <p class="faint">
          {percent(symbol.usage)} of all steps, over {symbol.sample.toLocaleString('en')} texts
        </p>
      </details>
    </article>
  );
}

/** Its name, and edits that make two themes of it or one of two; folded until someone wants to. */
function Editing({ symbol }: FactProps) {
  const levelled = openedWith(usePanel().run, 'levels') !== null;
  return (
    <details class="fold editing">
      <summary>{levelled ? 'Rename, merge or split this theme' : 'Rename this theme'}</summary>
      <Rename key={symbol.symbol} symbol={symbol} />
      {levelled ? <SymbolEdits key={`edit ${symbol.symbol}`} symbol={symbol} /> : null}
    </details>
  );
}

const FEW_FLOWS = 5;
/** What happens to fewer texts is not said to happen often. */
const LEAST_FLOW = 0.01;

/** Which themes texts go to from this one and come from, in words. */
function LinksInWords({ symbol }: FactProps) {
  const { graph, texts } = usePanel();
  const data = texts?.data.symbols === graph?.nodes.length ? texts?.data : undefined;
  const flows = useMemo(() => (data ? flowsOf(data, symbol.symbol) : null), [data, symbol.symbol]);
  if (!flows || !graph) return null;
  const often = (flow: readonly Flow[]) =>
    flow.slice(0, FEW_FLOWS).filter(({ share }, at) => at === 0 || share >= LEAST_FLOW);
  const directions = [
    { what: 'Often followed by', flow: often(flows.after) },
    { what: 'Often comes after', flow: often(flows.before) },
  ];
  return (
    <div class="flows">
      {directions.map(({ what, flow }) =>
        flow.length === 0 ? null : (
          <p key={what}>
            {what}{' '}
            {flow.map(({ symbol: other, share }, at) => (
              <>
                {at > 0 ? ', ' : ''}
                <SymbolLink symbol={other} />{' '}
                <span class="faint number">
                  ({percent(share)}
                  {at === 0 ? ' of its texts' : ''})
                </span>
              </>
            ))}
            .
          </p>
        ),
      )}
    </div>
  );
}

function Neighbours({ symbol }: FactProps) {
  const { graph } = usePanel();
  const { neighbours } = symbol;
  const { shown, more } = useFew(neighbours, FEW_NEIGHBOURS);
  const rows = csvOf(neighbours, {
    ...{ symbol: 'symbol', words: (next) => titleIn(graph, next.symbol), probability: 'probability' },
    'share of moves': 'traversals',
  });
  return (
    <>
      <TableHead name={`neighbours-${symbol.symbol}`} rows={rows}>
        Neighbours
      </TableHead>
      {neighbours.length === 0 ? <p class="faint">No link reaches this theme.</p> : null}
      <DataTable
        class="neighbours"
        of={shown}
        columns={[
          { head: 'Theme', cell: (next) => <SymbolLink symbol={next.symbol} /> },
          { head: 'Probability of the link', cell: ({ probability }) => <Bar of={probability} /> },
        ]}
      />
      {more}
    </>
  );
}

/** A name as it is typed, with the identity of the run that it was begun in: its symbol has that number there alone. */
interface TypedName {
  text: string;
  identity: string;
}

/** What is typed stays until it is saved, whatever the page reads again meanwhile. */
function Rename({ symbol }: FactProps) {
  const { edits } = usePanel();
  const [typed, setTyped] = useState<TypedName | null>(null);
  const name = symbol.name ?? '';
  const { text, identity } = typed ?? { text: name, identity: symbol.identity };
  const save = async (event: Event) => {
    event.preventDefault();
    if (await edits.rename(symbol.symbol, text, identity)) setTyped((now) => (now === typed ? null : now));
  };
  return (
    <form class="rename" onSubmit={save}>
      <input
        aria-label="Name of this theme"
        placeholder="Give it a name"
        maxLength={80}
        value={text}
        onInput={({ currentTarget: { value } }) =>
          setTyped(value === name ? null : { text: value, identity })
        }
      />
      <button type="submit" disabled={edits.busy !== null || text.trim() === name}>
        Save
      </button>
    </form>
  );
}

function Examples({ symbol, onRead }: { symbol: SymbolFacts; onRead(text: string): void }) {
  if (symbol.examples.length === 0)
    return <p class="faint">None of the {symbol.sample} texts that were read passes here.</p>;
  return (
    <Sentences
      of={symbol.examples}
      onRead={({ text }) => onRead(text)}
      body={({ text, tokens, positions }) =>
        tokens?.map((token, at) => <>{positions.includes(at) ? <mark>{token}</mark> : token} </>) ??
        shortened(text)
      }
    />
  );
}
