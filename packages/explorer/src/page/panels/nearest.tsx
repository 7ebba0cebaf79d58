import { TableHead } from '../figure.tsx';
import { latest, useLoaded } from '../loading.ts';
import { Show } from '../parts.tsx';
import type { PanelProps } from './panel.ts';
import { SentenceLine } from './sentence-line.tsx';

const MOST = 8;

interface NearestProps extends PanelProps {
  walk: number[];
  onRead(text: string): void;
}

/** Sentences of the corpus whose walks share most steps with this one. */
export function Nearest({ client, run, walk, onRead }: NearestProps) {
  const key = `${walk.join(' ')}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.nearest(walk, MOST, signal));
  const rows = () => [
    ['text', 'label', 'walk', 'shared steps', 'common symbols'],
    ...(latest(loaded)?.sentences ?? []).map((one) => [
      ...[one.text, one.label, one.walk.join(' ')],
      ...[one.shared, one.common],
    ]),
  ];
  return (
    <section class="nearest" aria-label="Nearest sentences">
      <TableHead name="nearest" rows={rows}>
        Nearest sentences by walk
      </TableHead>
      <Show of={loaded} what="Searching …">
        {({ sentences, encoded }) => (
          <>
            <ul class="examples">
              {sentences.map((sentence) => (
                <li key={sentence.index}>
                  <SentenceLine {...sentence} onRead={onRead}>
                    <span class="tag number" title="steps with the same symbol">
                      {sentence.shared}/{walk.length}
                    </span>
                  </SentenceLine>
                </li>
              ))}
            </ul>
            <p class="faint">of {encoded.toLocaleString('en')} sentences that were read</p>
          </>
        )}
      </Show>
    </section>
  );
}
