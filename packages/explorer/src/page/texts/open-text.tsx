import { useEffect } from 'preact/hooks';
import { type MapText, openedWith } from '../client.ts';
import { usePanel } from '../panels/panel.ts';
import { Bar, Press, SymbolLink, Waiting } from '../parts.tsx';
import { DataTable } from '../tables.tsx';
import { Marked, stepsOf, useExplained } from './marked.tsx';
import { useText } from './use-texts.ts';

/** The text that was opened, with its walk, which is highlighted on the graph meanwhile. */
export function OpenText() {
  const { run, texts, view, change, showWalk } = usePanel();
  const point = view.point !== null && texts && view.point < texts.data.count ? view.point : null;
  const text = useText(point);
  useEffect(() => {
    showWalk(text?.walk ?? null);
    return () => showWalk(null);
  }, [text]);
  const carries = text !== null && openedWith(run, 'explain') !== null;
  const key = carries ? `${run.id} ${run.opened?.identity} ${point}` : null;
  const explained = useExplained(key, text?.text ?? '');
  if (point === null) return null;
  if (!text) return <Waiting what="Reading the text …" />;
  return (
    <article class="open-text" aria-label="The text that is open">
      <blockquote>
        <Marked text={text.text} words={explained?.words ?? []} walk={text.walk} />
      </blockquote>
      <p class="open-facts">
        {text.label === null ? null : <span class="tag">{text.label}</span>}
        <span class="faint">text {point.toLocaleString('en')}</span>
        {openedWith(run, 'encode') ? (
          <Press class="plain" onClick={() => change({ panel: 'sentence', text: text.text })}>
            Read it closely
          </Press>
        ) : null}
        <Press class="plain" onClick={() => change({ point: null })}>
          Close
        </Press>
      </p>
      <Walked text={text} />
    </article>
  );
}

/** The steps of its walk, and what each tells. */
function Walked({ text }: { text: MapText }) {
  const stepWeights = text.weights ?? text.probabilities;
  const most = Math.max(...stepWeights, 1e-9);
  return (
    <DataTable
      class="open-walk"
      of={stepsOf(text.walk)}
      columns={[
        {
          head: 'Themes it goes through',
          cell: (symbol, step) => (
            <>
              <span class="step-number">{step + 1}</span>
              <SymbolLink symbol={symbol} />
            </>
          ),
        },
        {
          head: text.weights ? 'How much of the text' : 'Probability',
          cell: (symbol) => (
            <Bar of={stepWeights[text.walk.indexOf(symbol)]!} most={text.weights ? most : 1} />
          ),
        },
      ]}
    />
  );
}
