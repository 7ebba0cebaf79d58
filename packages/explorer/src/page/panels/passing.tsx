import { useState } from 'preact/hooks';
import { latest, useLoaded } from '../loading.ts';
import { Pages, Show } from '../parts.tsx';
import { SentenceLine } from './sentence-line.tsx';
import type { FactProps } from './symbol.tsx';

const PAGE = 10;

/** All sentences whose walks pass a symbol, page by page; of one label where that is wanted. */
export function Passing({ client, run, symbol, onRead }: FactProps & { onRead(text: string): void }) {
  const [open, setOpen] = useState(false);
  const [{ offset, label }, setPlace] = useState({ offset: 0, label: '' });
  const key = open ? `${symbol.symbol} ${offset} ${label} ${run.opened?.step}` : null;
  const loaded = useLoaded(key, (signal) => {
    const filter = label === '' ? {} : { label };
    return client.encoded({ offset, limit: PAGE, symbol: symbol.symbol, ...filter }, signal);
  });
  if (!open)
    return (
      <button type="button" class="plain" onClick={() => setOpen(true)}>
        All sentences that pass here
      </button>
    );
  return (
    <section class="passing" aria-label="All sentences that pass here">
      <h3>
        All that pass here{' '}
        {(run.opened?.labels.length ?? 0) > 1 ? (
          <select
            aria-label="Label of the sentences"
            value={label}
            onChange={(event) => setPlace({ offset: 0, label: event.currentTarget.value })}
          >
            <option value="">any label</option>
            {run.opened?.labels.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        ) : null}
      </h3>
      <Show of={loaded} what="Searching …">
        {({ sentences }) => (
          <ul class="examples">
            {sentences.map((sentence) => (
              <li key={sentence.index}>
                <SentenceLine {...sentence} onRead={onRead} />
              </li>
            ))}
          </ul>
        )}
      </Show>
      <Pages
        {...{ offset, limit: PAGE, total: latest(loaded)?.total ?? 0 }}
        onTurn={(to) => setPlace({ offset: to, label })}
      />
    </section>
  );
}
