import { useEffect, useRef, useState } from 'preact/hooks';
import { TableHead } from '../figure.tsx';
import { Failure, Waiting } from '../parts.tsx';
import type { PanelProps } from './panel.ts';
import { SentenceLine } from './sentence-line.tsx';

type Writing =
  | { state: 'none' }
  | { state: 'busy' }
  | { state: 'done'; samples: { text: string }[] }
  | { state: 'failed'; message: string };

/** Writes about the walk when asked; leaving stops it. */
export function Written({ client, view, change, missing }: PanelProps & { missing: boolean }) {
  const [force, setForce] = useState(false);
  const { writing, write, stop } = useWriting(client, view, force);
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
        <button
          type="button"
          class="primary"
          disabled={(missing && !force) || writing.state === 'busy'}
          onClick={write}
        >
          Write
        </button>
        {writing.state === 'busy' ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : null}
      </span>
      <Outcome writing={writing} onRead={(text) => change({ panel: 'sentence', text })} />
    </>
  );
}

/** What was written by the settings in view; `force` writes over steps without a link. */
function useWriting(client: PanelProps['client'], view: PanelProps['view'], force: boolean) {
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
      <TableHead name="samples" rows={() => [['text'], ...samples.map(({ text }) => [text])]}>
        Written
      </TableHead>
      <ol class="examples">
        {samples.map(({ text }, at) => (
          <li key={at}>
            {text === '' ? <span class="faint">(nothing)</span> : <SentenceLine {...{ text, onRead }} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
