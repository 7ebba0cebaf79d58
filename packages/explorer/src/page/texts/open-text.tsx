import { useEffect } from 'preact/hooks';
import { titleIn } from '../labels.ts';
import type { PanelProps } from '../panels/panel.ts';
import { Bar, SymbolLink, Waiting } from '../parts.tsx';
import { Marked, stepsOf, useExplained } from './marked.tsx';
import { useText } from './use-texts.ts';

type OpenedText = NonNullable<ReturnType<typeof useText>>;

/** The text that was opened, with its walk, which is highlighted on the graph meanwhile. */
export function OpenText({ client, run, graph, texts, view, change, goTo, showWalk }: PanelProps) {
  const point = view.point !== null && texts && view.point < texts.data.count ? view.point : null;
  const text = useText(client, point);
  useEffect(() => {
    showWalk(text?.walk ?? null);
    return () => showWalk(null);
  }, [text]);
  const carries = text !== null && (run.opened?.features.includes('explain') ?? false);
  const key = carries ? `${run.id} ${run.opened?.identity} ${point}` : null;
  const explained = useExplained(client, key, text?.text ?? '');
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
        {run.opened?.features.includes('encode') ? (
          <button type="button" class="plain" onClick={() => change({ panel: 'sentence', text: text.text })}>
            Read it closely
          </button>
        ) : null}
        <button type="button" class="plain" onClick={() => change({ point: null })}>
          Close
        </button>
      </p>
      <Walked {...{ text, graph, goTo }} />
    </article>
  );
}

/** The steps of its walk, and what each tells. */
function Walked({ text, graph, goTo }: Pick<PanelProps, 'graph' | 'goTo'> & { text: OpenedText }) {
  const stepWeights = text.weights ?? text.probabilities;
  const most = Math.max(...stepWeights, 1e-9);
  return (
    <table class="open-walk">
      <thead>
        <tr>
          <th>Themes it goes through</th>
          <th>{text.weights ? 'How much of the text' : 'Probability'}</th>
        </tr>
      </thead>
      <tbody>
        {stepsOf(text.walk).map((symbol, step) => (
          <tr key={symbol}>
            <td>
              <span class="step-number">{step + 1}</span>
              <SymbolLink symbol={symbol} label={titleIn(graph, symbol)} onChoose={goTo} />
            </td>
            <td>
              <Bar of={stepWeights[text.walk.indexOf(symbol)]!} most={text.weights ? most : 1} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
