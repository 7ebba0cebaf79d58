import { useState } from 'preact/hooks';
import { latest, useLoaded } from '../loading.ts';
import { Pages, Show } from '../parts.tsx';
import { SentenceLine } from './sentence-line.tsx';
import type { FactProps } from './symbol.tsx';

const PAGE = 10;

type PassingProps = FactProps & { onRead(text: string): void };

/** All sentences whose walks pass a symbol, page by page; of one label where that is wanted. */
export function Passing(props: PassingProps) {
  const [open, setOpen] = useState(false);
  if (open) return <Sentences {...props} />;
  return (
    <button type="button" class="plain" onClick={() => setOpen(true)}>
      All texts that pass here
    </button>
  );
}

function Sentences({ client, run, symbol, onRead }: PassingProps) {
  const [{ offset, label }, setPlace] = useState({ offset: 0, label: '' });
  const key = `${symbol.symbol} ${offset} ${label} ${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => {
    const filter = label === '' ? {} : { label };
    return client.encoded({ offset, limit: PAGE, symbol: symbol.symbol, ...filter }, signal);
  });
  return (
    <section class="passing" aria-label="All texts that pass here">
      <h3>
        All that pass here{' '}
        <LabelChoice
          {...{ labels: run.opened?.labels ?? [], label }}
          onChoose={(name) => setPlace({ offset: 0, label: name })}
        />
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

interface LabelChoiceProps {
  labels: readonly string[];
  label: string;
  onChoose(label: string): void;
}

const LabelChoice = ({ labels, label, onChoose }: LabelChoiceProps) =>
  labels.length > 1 ? (
    <select
      aria-label="Label of the texts"
      value={label}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">any label</option>
      {labels.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  ) : null;
