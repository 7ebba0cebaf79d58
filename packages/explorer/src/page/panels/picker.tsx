import { useState } from 'preact/hooks';
import type { Client, Run } from '../client.ts';
import { latest, useLoaded } from '../loading.ts';
import { Pages, Show } from '../parts.tsx';
import { SentenceLine } from './sentence-line.tsx';

const PAGE = 8;
const SPLITS = ['test', 'valid', 'train'] as const;
type Split = (typeof SPLITS)[number];

interface PickerProps {
  client: Client;
  run: Run;
  onPick(text: string, walk: number[] | null): void;
}

/** Sentences of the corpus, page by page. */
export function Picker({ client, run, onPick }: PickerProps) {
  const [{ split, offset }, setPlace] = useState<{ split: Split; offset: number }>({
    split: 'test',
    offset: 0,
  });
  const loaded = useLoaded(`${run.id} ${split} ${offset}`, (signal) =>
    client.sentences(split, { offset, limit: PAGE }, signal),
  );
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
            {sentences.map(({ index, text, label, walk }) => (
              <li key={index}>
                <SentenceLine text={text} label={label} onRead={() => onPick(text, walk)} />
              </li>
            ))}
          </ul>
        )}
      </Show>
      <Pages
        {...{ offset, limit: PAGE, total: latest(loaded)?.total ?? 0 }}
        onTurn={(to) => setPlace({ split, offset: to })}
      />
    </section>
  );
}
