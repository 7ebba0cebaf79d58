import { useEffect } from 'preact/hooks';
import type { Answer } from '../../shared/api.ts';
import { titleIn } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import type { PanelProps } from '../panels/panel.ts';
import { Bar, SymbolLink, Waiting } from '../parts.tsx';
import { useText } from './use-texts.ts';

type OpenedText = NonNullable<ReturnType<typeof useText>>;

/** The text that was opened, with its walk, which is lit on the graph meanwhile. */
export function OpenText({ client, run, graph, texts, view, change, goTo, showWalk }: PanelProps) {
  const point = view.point !== null && texts && view.point < texts.data.count ? view.point : null;
  const text = useText(client, point);
  useEffect(() => {
    showWalk(text?.walk ?? null);
    return () => showWalk(null);
  }, [text]);
  const carries = text !== null && (run.opened?.features.includes('explain') ?? false);
  const loaded = useLoaded(carries ? `${run.id} ${run.opened?.identity} ${point}` : null, (signal) =>
    client.explain(text!.text, signal),
  );
  // Words of the text before are not this one's.
  const explained = loaded.state === 'ready' && carries ? loaded.value : null;
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

interface MarkedProps {
  text: string;
  words: Answer<'explain'>['words'];
  walk: readonly number[];
}

/** A text with the words that carry a step marked, each with the number of its step. */
function Marked({ text, words, walk }: MarkedProps) {
  const inside = words.filter(({ end }) => end <= text.length);
  return (
    <>
      {inside.map(({ start, end, symbol }, at) => (
        <>
          {text.slice(inside[at - 1]?.end ?? 0, start)}
          <mark>
            {text.slice(start, end)}
            <sub>{walk.indexOf(symbol) + 1}</sub>
          </mark>
        </>
      ))}
      {text.slice(inside.at(-1)?.end ?? 0)}
    </>
  );
}

/** The steps of its walk, and what each tells. */
function Walked({ text, graph, goTo }: Pick<PanelProps, 'graph' | 'goTo'> & { text: OpenedText }) {
  const told = text.weights ?? text.probabilities;
  const most = Math.max(...told, 1e-9);
  return (
    <table class="open-walk">
      <thead>
        <tr>
          <th>Its walk</th>
          <th>{text.weights ? 'Tells of the text' : 'Probability'}</th>
        </tr>
      </thead>
      <tbody>
        {text.walk.map((symbol, step) => (
          <tr key={step}>
            <td>
              <SymbolLink symbol={symbol} label={titleIn(graph, symbol)} onChoose={goTo} />
            </td>
            <td>
              <Bar of={told[step]!} most={text.weights ? most : 1} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
