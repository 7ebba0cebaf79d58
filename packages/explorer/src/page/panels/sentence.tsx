import { useEffect, useState } from 'preact/hooks';
import { client, type Encoded } from '../client.ts';
import { decimal, percent, title } from '../labels.ts';
import { useLoaded, latest } from '../loading.ts';
import { Bar, Show, SymbolLink } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

const PAGE = 8;
const SPLITS = ['test', 'valid', 'train'] as const;

/** A sentence and its walk on the graph. */
export function SentencePanel(props: PanelProps) {
  const { view, change, run, showWalk } = props;
  const [draft, setDraft] = useState(view.text);
  const [expected, setExpected] = useState<{ text: string; walk: number[] } | null>(null);
  useEffect(() => setDraft(view.text), [view.text]);
  const key = view.text.trim() === '' ? null : `${view.text}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.encode(view.text, signal));
  const encoded = key === null ? null : latest(loaded);
  useEffect(() => {
    showWalk(encoded?.walk?.steps.map(({ symbol }) => symbol) ?? null);
    return () => showWalk(null);
  }, [encoded, showWalk]);
  const read = (text: string) => change({ text: text.trim().replaceAll(/\s+/g, ' ') });
  return (
    <>
      <form
        class="compose"
        onSubmit={(event) => {
          event.preventDefault();
          read(draft);
        }}
      >
        <label for="sentence">Sentence of {run.opened?.corpus.length ?? '…'} tokens</label>
        <textarea
          id="sentence"
          rows={3}
          maxLength={20_000}
          spellcheck={false}
          value={draft}
          placeholder="Type or paste a sentence, or pick one below"
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey) return;
            event.preventDefault();
            read(draft);
          }}
        />
        <span class="buttons">
          <button type="submit" class="primary" disabled={draft.trim() === ''}>
            Show its walk
          </button>
          <button
            type="button"
            disabled={draft === '' && view.text === ''}
            onClick={() => {
              setDraft('');
              change({ text: '' });
            }}
          >
            Clear
          </button>
        </span>
      </form>
      {key === null ? null : (
        <Show of={loaded} what="Reading the sentence …">
          {(value) => (
            <Walk {...props} encoded={value} truth={expected?.text === view.text ? expected.walk : null} />
          )}
        </Show>
      )}
      <Picker
        onPick={(text, walk) => {
          setExpected(walk && { text, walk });
          read(text);
        }}
      />
    </>
  );
}

interface WalkProps extends PanelProps {
  encoded: Encoded;
  /** The true walk, where the sentence was picked from a corpus that knows it. */
  truth: number[] | null;
}

function Walk({ encoded, truth, graph, goTo }: WalkProps) {
  const { walk, problem, tokens } = encoded;
  const labelOf = (symbol: number) => (graph?.nodes[symbol] ? title(graph.nodes[symbol]) : '');
  if (!walk)
    return (
      <div class="failure" role="alert">
        <p>{problem}</p>
        <p class="words">
          {tokens.slice(0, 200).map(({ text, known }, at) => (
            <span key={at} class={known ? '' : 'unknown'}>
              {text}{' '}
            </span>
          ))}
        </p>
      </div>
    );
  const right = truth ? walk.steps.filter(({ symbol }, at) => symbol === truth[at]).length : 0;
  return (
    <section class="walk" aria-label="Walk" data-walk={walk.steps.map(({ symbol }) => symbol).join(' ')}>
      <p class="faint">
        log-probability of this walk{' '}
        <b>{walk.logProbability === null ? '−∞: it leaves the graph' : decimal(walk.logProbability)}</b>
        {truth ? ` · ${right} of ${truth.length} symbols are the true ones` : ''}
      </p>
      <table>
        <thead>
          <tr>
            <th>Step</th>
            {walk.steps[0]?.token === null ? null : <th>Token</th>}
            <th>Symbol</th>
            <th>Probability</th>
            <th>Else</th>
          </tr>
        </thead>
        <tbody>
          {walk.steps.map((step, at) => (
            <tr key={at} class={truth && truth[at] !== step.symbol ? 'wrong' : ''}>
              <td class="number">{at + 1}</td>
              {step.token === null ? null : <td class="token">{step.token}</td>}
              <td>
                <SymbolLink symbol={step.symbol} label={labelOf(step.symbol)} onChoose={goTo} />
                {step.link !== null && step.link < 0.5 ? (
                  <span
                    class="weak"
                    title={`The link from the step before has probability ${percent(step.link)}`}
                  >
                    no link
                  </span>
                ) : null}
              </td>
              <td>
                <Bar of={step.probability} />
              </td>
              <td class="else">
                {step.alternatives.map((other) => (
                  <button
                    type="button"
                    class="plain number"
                    key={other.symbol}
                    title={`${labelOf(other.symbol)}: ${percent(other.probability)}`}
                    onClick={() => goTo(other.symbol)}
                  >
                    {other.symbol}
                  </button>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Sentences of the corpus, page by page. */
function Picker({ onPick }: { onPick(text: string, walk: number[] | null): void }) {
  const [split, setSplit] = useState<(typeof SPLITS)[number]>('test');
  const [offset, setOffset] = useState(0);
  const loaded = useLoaded(`${split} ${offset}`, (signal) => client.sentences(split, offset, PAGE, signal));
  const total = latest(loaded)?.total ?? 0;
  return (
    <section class="picker" aria-label="Sentences of the corpus">
      <h3>
        From the corpus{' '}
        <select
          aria-label="Part of the corpus"
          value={split}
          onChange={(event) => {
            setOffset(0);
            setSplit(event.currentTarget.value as (typeof SPLITS)[number]);
          }}
        >
          {SPLITS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </h3>
      <Show of={loaded} what="Reading sentences …">
        {({ sentences }) => (
          <ul class="examples">
            {sentences.map(({ index, tokens, walk }) => (
              <li key={index}>
                <button type="button" class="sentence" onClick={() => onPick(tokens.join(' '), walk)}>
                  {tokens.join(' ')}
                </button>
              </li>
            ))}
          </ul>
        )}
      </Show>
      <p class="pages">
        <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
          Before
        </button>
        <span class="faint">
          {total === 0
            ? 'none'
            : `${offset + 1}–${Math.min(offset + PAGE, total)} of ${total.toLocaleString('en')}`}
        </span>
        <button type="button" disabled={offset + PAGE >= total} onClick={() => setOffset(offset + PAGE)}>
          Next
        </button>
      </p>
    </section>
  );
}
