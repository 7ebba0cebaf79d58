import { useState } from 'preact/hooks';
import { Choice, Press } from '../parts.tsx';
import { usePanel } from './panel.ts';
import { PagedSentences } from './sentences.tsx';

const PAGE = 10;

/** All sentences whose walks pass a symbol, page by page; of one label where that is wanted. */
export function Passing({ symbol, onRead }: { symbol: number; onRead(text: string): void }) {
  const { client, run } = usePanel();
  const [open, setOpen] = useState(false);
  const [label, setLabel] = useState('');
  if (!open)
    return (
      <Press class="plain" onClick={() => setOpen(true)}>
        All texts that pass here
      </Press>
    );
  const labels = run.opened?.labels ?? [];
  const filter = { limit: PAGE, symbol, ...(label === '' ? {} : { label }) };
  return (
    <section class="passing" aria-label="All texts that pass here">
      <h3>
        All that pass here{' '}
        {labels.length > 1 ? (
          <Choice
            {...{ label: 'Label of the texts', unseen: true, value: label, onChoose: setLabel }}
            options={[['', 'any label'], ...labels]}
          />
        ) : null}
      </h3>
      <PagedSentences
        list={`${symbol} ${label} ${run.opened?.step}`}
        limit={PAGE}
        load={(offset, signal) => client.encoded({ offset, ...filter }, signal)}
        onRead={({ text }) => onRead(text)}
      />
    </section>
  );
}
