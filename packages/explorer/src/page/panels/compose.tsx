import { useEffect, useRef, useState } from 'preact/hooks';
import type { Graph } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { MISSING_LINK } from '../graph/looks.ts';
import { linkOf } from '../graph/scene.ts';
import { percent } from '../labels.ts';
import { Empty, Failure, Press, SymbolLink, Waiting } from '../parts.tsx';
import { SymbolFinder } from '../search.tsx';
import { csvOf } from '../tables.tsx';
import { usePanel } from './panel.ts';
import { Sentences } from './sentences.tsx';

/** A walk made by hand, and sentences about it. */
export function ComposePanel() {
  const { graph, view, change, run, showWalk } = usePanel();
  const { walk } = view;
  useEffect(() => {
    showWalk(walk.length > 0 ? walk : null);
    return () => showWalk(null);
  }, [walk.join(' '), showWalk]);
  if (!graph) return <Empty>The graph is not there yet.</Empty>;
  const missing = walk.some((to, at) => at > 0 && linkOf(graph, walk[at - 1]!, to) < MISSING_LINK);
  return (
    <section class="composer" aria-label="Compose">
      <p class="faint">
        Click themes in the picture to make a walk, or add them here; this run’s walks have {run.opened?.walk}{' '}
        steps.
      </p>
      <SymbolFinder
        {...{ label: 'Theme to add', placeholder: 'Number, name or word of a theme', nodes: graph.nodes }}
        onFind={(symbol) => change({ walk: [...walk, symbol] })}
      />
      {walk.length === 0 ? (
        <Empty>No step yet.</Empty>
      ) : (
        <>
          <Steps graph={graph} />
          <Sampling />
          <Written key={walk.join(' ')} missing={missing} />
        </>
      )}
    </section>
  );
}

function Steps({ graph }: { graph: Graph }) {
  const { view, change } = usePanel();
  const { walk } = view;
  const without = (at: number) => change({ walk: walk.filter((_, other) => other !== at) });
  return (
    <>
      <ol class="steps" data-walk={walk.join(' ')}>
        {walk.map((symbol, at) => {
          const link = at === 0 ? 1 : linkOf(graph, walk[at - 1]!, symbol);
          return (
            <li key={at} class={link < MISSING_LINK ? 'no-link' : ''}>
              {at > 0 ? (
                <span class="link-note" title="Probability of the link from the step before">
                  {link < MISSING_LINK ? `no link (${percent(link)})` : percent(link)}
                </span>
              ) : null}
              <SymbolLink symbol={symbol} />
              <Press class="plain" aria-label={`Take step ${at + 1} away`} onClick={() => without(at)}>
                ×
              </Press>
            </li>
          );
        })}
      </ol>
      <span class="buttons">
        <Press onClick={() => change({ walk: walk.slice(0, -1) })}>Take the last away</Press>
        <Press onClick={() => change({ walk: [] })}>Clear</Press>
      </span>
    </>
  );
}

type Writing =
  | { state: 'none' }
  | { state: 'busy' }
  | { state: 'done'; samples: { text: string }[] }
  | { state: 'failed'; message: string };

/** Writes about the walk when asked; leaving stops it. */
export function Written({ missing }: { missing: boolean }) {
  const { change } = usePanel();
  const [force, setForce] = useState(false);
  const { writing, write, stop } = useWriting(force);
  return (
    <>
      {missing ? (
        <label class="check notice">
          <input
            type="checkbox"
            checked={force}
            onChange={(event) => setForce(event.currentTarget.checked)}
          />
          A step has no link. Write all the same.
        </label>
      ) : null}
      <span class="buttons">
        <Press class="primary" disabled={(missing && !force) || writing.state === 'busy'} onClick={write}>
          Write
        </Press>
        {writing.state === 'busy' ? <Press onClick={stop}>Stop</Press> : null}
      </span>
      <Outcome writing={writing} onRead={(text) => change({ panel: 'sentence', text })} />
    </>
  );
}

/** What was written by the settings in view; `force` writes over steps without a link. */
function useWriting(force: boolean) {
  const { client, view } = usePanel();
  const [writing, setWriting] = useState<Writing>({ state: 'none' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const write = async () => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setWriting({ state: 'busy' });
    const { walk, count, temperature, topp, topk, seed } = view;
    const limits = { ...(topk > 0 ? { topK: topk } : {}), ...(topp < 1 ? { topP: topp } : {}) };
    try {
      const body = { walk: [...walk], count, temperature, seed, force, ...limits };
      const { samples } = await client.generate(body, controller.signal);
      setWriting({ state: 'done', samples });
    } catch (error) {
      if (!controller.signal.aborted) setWriting({ state: 'failed', message: (error as Error).message });
    }
  };
  const stop = () => {
    running.current?.abort();
    setWriting({ state: 'none' });
  };
  return { writing, write, stop };
}

function Outcome({ writing, onRead }: { writing: Writing; onRead(text: string): void }) {
  if (writing.state === 'none') return null;
  if (writing.state === 'busy') return <Waiting what="Writing …" />;
  if (writing.state === 'failed') return <Failure message={writing.message} />;
  const { samples } = writing;
  return (
    <section class="samples" aria-label="What was written">
      <TableHead name="samples" rows={csvOf(samples, { text: 'text' })}>
        Written
      </TableHead>
      <Sentences
        of={samples}
        body={({ text }) => text || '(nothing)'}
        onRead={({ text }) => text && onRead(text)}
      />
    </section>
  );
}

interface Control {
  name: 'count' | 'temperature' | 'topp' | 'topk' | 'seed';
  label: string;
  hint: string;
  min: number;
  max: number;
  step: number;
}

const controls: readonly Control[] = [
  { name: 'count', label: 'Samples', hint: 'sentences at once', min: 1, max: 20, step: 1 },
  {
    ...{ name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 0.05 },
    hint: '0 takes the best token each time',
  },
  {
    ...{ name: 'topp', label: 'Top p', min: 0.05, max: 1, step: 0.05 },
    hint: 'only the best tokens that together have this probability',
  },
  { name: 'topk', label: 'Top k', hint: 'only the k best tokens; 0 for all', min: 0, max: 1000, step: 1 },
  { name: 'seed', label: 'Seed', hint: 'the same seed writes the same', min: 0, max: 2 ** 31, step: 1 },
];

/** How tokens are drawn. */
export function Sampling() {
  const { view, change } = usePanel();
  return (
    <fieldset class="sampling">
      <legend>Sampling</legend>
      {controls.map(({ name, label, hint, ...range }) => (
        <label key={name} title={hint}>
          {label}
          <input
            type="number"
            value={view[name]}
            {...range}
            onChange={(event) => {
              const value = Number(event.currentTarget.value);
              if (value >= range.min && value <= range.max) change({ [name]: value });
            }}
          />
        </label>
      ))}
    </fieldset>
  );
}
