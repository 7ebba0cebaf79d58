import { useEffect, useState } from 'preact/hooks';
import { title } from '../labels.ts';
import { latest, useLoaded } from '../loading.ts';
import { Empty, Failure, Pages, Show, Waiting } from '../parts.tsx';
import { selectedTexts } from '../texts/filter.ts';
import { FilterForm } from '../texts/filter-form.tsx';
import { OpenText } from '../texts/open-text.tsx';
import { NOTHING_ASKED, type Texts } from '../texts/use-texts.ts';
import type { PanelProps } from './panel.ts';
import { SentenceLine } from './sentence-line.tsx';

const PAGE = 10;

/** The texts of a run: which of them are selected, and these page by page. */
export function TextsPanel(props: PanelProps) {
  const { texts, textsFailure, change } = props;
  if (!texts)
    return textsFailure === null ? (
      <Waiting what="Placing texts on the map …" />
    ) : (
      <Failure message={textsFailure} />
    );
  const { count, data, active } = texts;
  return (
    <section class="texts" aria-label="Texts">
      <OpenText {...props} />
      <p class="selected-counts" role="status">
        <b class="number">{count.toLocaleString('en')}</b> of {data.count.toLocaleString('en')} texts
        {active ? (
          <button type="button" onClick={() => change(NOTHING_ASKED)}>
            Clear
          </button>
        ) : null}
      </p>
      {data.count < data.corpus ? (
        <p class="faint">
          The corpus has {data.corpus.toLocaleString('en')}; <code>hsn encode</code> reads the rest.
        </p>
      ) : null}
      <FilterForm {...props} texts={texts} />
      <SelectedTexts {...props} texts={texts} />
    </section>
  );
}

function SelectedTexts({ client, run, view, change, graph, texts }: PanelProps & { texts: Texts }) {
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(0), [texts.selected]);
  const shown = selectedTexts(texts.selected, offset, PAGE);
  const key = shown.length === 0 ? null : `${run.id} ${run.opened?.identity} ${shown.join()}`;
  const loaded = useLoaded(key, (signal) => client.texts(shown, signal));
  if (texts.count === 0) return <Empty>No text is all of this. Take something away above.</Empty>;
  const nameOf = (symbol: number) => {
    const node = graph?.nodes[symbol];
    return node ? title(node) : String(symbol);
  };
  return (
    <>
      <h3>Texts</h3>
      <Show of={loaded} what="Reading texts …">
        {(value) => (
          <ul class="examples" data-step={latest(loaded)?.step}>
            {value.texts.map(({ index, text, label, walk }) => (
              <li key={index} class={index === view.point ? 'current' : ''}>
                <SentenceLine text={shortened(text)} label={label} onRead={() => change({ point: index })}>
                  <span class="walk-line">{[...new Set(walk.slice(0, 3))].map(nameOf).join(' → ')}</span>
                </SentenceLine>
              </li>
            ))}
          </ul>
        )}
      </Show>
      <Pages {...{ offset, limit: PAGE, total: texts.count }} onTurn={setOffset} />
    </>
  );
}

const LONGEST = 280;
const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST).trimEnd()}…` : text;
