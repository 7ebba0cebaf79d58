import { useMemo, useRef } from 'preact/hooks';
import { titleIn } from '../labels.ts';
import { Empty, Failure, Press, Waiting } from '../parts.tsx';
import { selectedTexts } from '../texts/filter.ts';
import { FilterForm } from '../texts/filter-form.tsx';
import { OpenText } from '../texts/open-text.tsx';
import { NOTHING_ASKED, type Texts } from '../texts/use-texts.ts';
import { usePanel } from './panel.ts';
import { PagedSentences } from './sentences.tsx';

const PAGE = 10;

/** The texts of a run: which of them are selected, and these page by page. */
export function TextsPanel() {
  const { texts, change } = usePanel();
  if (!texts) return <NoTexts />;
  const { count, data, active } = texts;
  return (
    <section class="texts" aria-label="Texts">
      <OpenText />
      <p class="selected-counts" role="status">
        <b class="number">{count.toLocaleString('en')}</b> of {data.count.toLocaleString('en')} texts
        {active ? <Press onClick={() => change(NOTHING_ASKED)}>Clear</Press> : null}
      </p>
      {data.count < data.corpus ? (
        <p class="faint">
          The corpus has {data.corpus.toLocaleString('en')}; <code>hsn encode</code> reads the rest.
        </p>
      ) : null}
      <FilterForm texts={texts} />
      <SelectedTexts texts={texts} />
    </section>
  );
}

/** While texts are read, or where they cannot be. */
export function NoTexts() {
  const { textsFailure } = usePanel();
  return textsFailure === null ? (
    <Waiting what="Placing texts on the map …" />
  ) : (
    <Failure message={textsFailure} />
  );
}

function SelectedTexts({ texts }: { texts: Texts }) {
  const { client, view, change, graph } = usePanel();
  const { selected, count } = texts;
  const selections = useRef(0);
  // Another selection is another list.
  const list = useMemo(() => String(++selections.current), [selected, client]);
  if (count === 0) return <Empty>No text is all of this. Take something away above.</Empty>;
  return (
    <>
      <h3>Texts</h3>
      <PagedSentences
        {...{ list, limit: PAGE }}
        load={async (offset, signal) => {
          const { texts: sentences } = await client.texts(
            { at: selectedTexts(selected, offset, PAGE) },
            signal,
          );
          return { total: count, sentences };
        }}
        isCurrent={({ index }) => index === view.point}
        onRead={({ index }) => change({ point: index })}
        more={({ walk }) => (
          <span class="walk-line">
            {[...new Set(walk.slice(0, 3))].map((k) => titleIn(graph, k)).join(' → ')}
          </span>
        )}
      />
    </>
  );
}
