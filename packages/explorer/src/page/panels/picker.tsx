import { useState } from 'preact/hooks';
import { client } from '../client.ts';
import { latest, useLoaded } from '../loading.ts';
import { Show } from '../parts.tsx';

const PAGE = 8;
const SPLITS = ['test', 'valid', 'train'] as const;
type Split = (typeof SPLITS)[number];

interface PickerProps {
  onPick(text: string, walk: number[] | null): void;
}

/** Sentences of the corpus, page by page. */
export function Picker({ onPick }: PickerProps) {
  const [{ split, offset }, setPlace] = useState<{ split: Split; offset: number }>({
    split: 'test',
    offset: 0,
  });
  const loaded = useLoaded(`${split} ${offset}`, (signal) => client.sentences(split, offset, PAGE, signal));
  return (
    <section class="picker" aria-label="Sentences of the corpus">
      <h3>
        From the corpus{' '}
        <select
          aria-label="Part of the corpus"
          value={split}
          onChange={(event) => setPlace({ split: event.currentTarget.value as Split, offset: 0 })}
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
      <Pages
        offset={offset}
        total={latest(loaded)?.total ?? 0}
        onTurn={(to) => setPlace({ split, offset: to })}
      />
    </section>
  );
}

function Pages({ offset, total, onTurn }: { offset: number; total: number; onTurn(offset: number): void }) {
  const range = `${offset + 1}–${Math.min(offset + PAGE, total)} of ${total.toLocaleString('en')}`;
  return (
    <p class="pages">
      <button type="button" disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - PAGE))}>
        Before
      </button>
      <span class="faint">{total === 0 ? 'none' : range}</span>
      <button type="button" disabled={offset + PAGE >= total} onClick={() => onTurn(offset + PAGE)}>
        Next
      </button>
    </p>
  );
}
