import { useLoaded } from '../loading.ts';
import { Show } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

/** What the decoder makes of the walk alone, word by word the most probable. */
export function Reconstruction({ client, run, change, walk }: PanelProps & { walk: number[] }) {
  const key = `${walk.join(' ')}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.generate({ walk, force: true }, signal));
  return (
    <section aria-label="Reconstruction">
      <h3>Written again from the walk alone</h3>
      <Show of={loaded} what="Writing …">
        {({ samples }) => <blockquote class="written">{samples[0]!.text || '(nothing)'}</blockquote>}
      </Show>
      <button type="button" class="plain" onClick={() => change({ panel: 'compose', walk })}>
        Go on from this walk in Compose
      </button>
    </section>
  );
}
