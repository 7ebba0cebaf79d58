import { useEffect, useState } from 'preact/hooks';
import { latest, useLoaded } from '../loading.ts';
import { Show } from '../parts.tsx';
import { Attention } from './attention.tsx';
import { Nearest } from './nearest.tsx';
import type { PanelProps } from './panel.ts';
import { Picker } from './picker.tsx';
import { Reconstruction } from './reconstruction.tsx';
import { Walk } from './walk.tsx';

/** A sentence and its walk on the graph; what is written from the walk, sentences near it, and its attention. */
export function SentencePanel(props: PanelProps) {
  const { client, view, change, run, showWalk } = props;
  const [picked, setPicked] = useState<{ text: string; walk: number[] } | null>(null);
  const key = view.text.trim() === '' ? null : `${view.text}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.encode(view.text, signal));
  const encoded = key === null ? null : latest(loaded);
  const walk = encoded?.walk?.steps.map(({ symbol }) => symbol) ?? null;
  useEffect(() => {
    showWalk(walk);
    return () => showWalk(null);
  }, [encoded, showWalk]);
  const read = (text: string) => change({ text: text.trim().replaceAll(/\s+/g, ' ') });
  const pick = (text: string, truth: number[] | null) => {
    setPicked(truth && { text, walk: truth });
    read(text);
  };
  const offers = (feature: string) => run.opened?.features.includes(feature) ?? false;
  return (
    <>
      <Compose text={view.text} length={run.opened?.corpus.length ?? null} onRead={read} />
      {key === null ? null : (
        <Show of={loaded} what="Reading the sentence …">
          {(value) => (
            <Walk {...props} encoded={value} truth={picked?.text === view.text ? picked.walk : null} />
          )}
        </Show>
      )}
      {walk && offers('write') ? <Reconstruction {...props} walk={walk} /> : null}
      {walk && offers('attention') ? <Attention {...props} /> : null}
      {walk && offers('nearest') ? <Nearest {...props} walk={walk} onRead={read} /> : null}
      <Picker client={client} run={run} onPick={pick} />
    </>
  );
}

interface ComposeProps {
  text: string;
  /** Tokens of a sentence, where that is fixed. */
  length: number | null;
  onRead(text: string): void;
}

function Compose({ text, length, onRead }: ComposeProps) {
  const [draft, setDraft] = useState(text);
  useEffect(() => setDraft(text), [text]);
  const submit = (event: Event) => {
    event.preventDefault();
    onRead(draft);
  };
  const clear = () => {
    setDraft('');
    onRead('');
  };
  return (
    <form class="compose" onSubmit={submit}>
      <label for="sentence">
        {length === null ? 'A sentence of your own' : `Sentence of ${length} tokens`}
      </label>
      <textarea
        id="sentence"
        rows={3}
        maxLength={20_000}
        spellcheck={false}
        value={draft}
        placeholder="Type or paste a sentence, or pick one below"
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && !event.shiftKey && submit(event)}
      />
      <span class="buttons">
        <button type="submit" class="primary" disabled={draft.trim() === ''}>
          Read it
        </button>
        <button type="button" disabled={draft === '' && text === ''} onClick={clear}>
          Clear
        </button>
      </span>
    </form>
  );
}
