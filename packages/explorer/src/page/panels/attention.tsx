import { HeatMap } from '../heat-map.tsx';
import { title } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Show } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

/** Which words attend to which symbols when the decoder writes the sentence. */
export function Attention({ client, run, graph, view, change, dark }: PanelProps) {
  const { text, layer, head } = view;
  const key = `${text}@${run.opened?.step} ${layer} ${head}`;
  const loaded = useLoaded(key, (signal) =>
    client.attention({ text, ...(layer < 0 ? {} : { layer }), ...(head < 0 ? {} : { head }) }, signal),
  );
  return (
    <section class="attention" aria-label="Attention">
      <h3>Words and the symbols they attend to</h3>
      <Show of={loaded} what="Reading attention …">
        {({ tokens, walk, layers, heads, weights }) => (
          <>
            <p class="choices">
              <Choice what="Layer" count={layers} value={layer} onChange={(at) => change({ layer: at })} />
              <Choice what="Head" count={heads} value={head} onChange={(at) => change({ head: at })} />
            </p>
            <HeatMap
              name="attention"
              caption="Attention of each word onto the steps of the walk"
              dark={dark}
              rows={tokens.map((token) => token.trim() || '␣')}
              columns={walk.map((symbol) => {
                const node = graph?.nodes[symbol];
                return node ? `${symbol} ${title(node)}` : String(symbol);
              })}
              values={weights}
            />
          </>
        )}
      </Show>
    </section>
  );
}

interface ChoiceProps {
  what: string;
  count: number;
  value: number;
  onChange(at: number): void;
}

const Choice = ({ what, count, value, onChange }: ChoiceProps) => (
  <label class="choice">
    {what}
    <select value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
      <option value={-1}>mean of all</option>
      {Array.from({ length: count }, (_, at) => (
        <option key={at} value={at}>
          {at + 1}
        </option>
      ))}
    </select>
  </label>
);
