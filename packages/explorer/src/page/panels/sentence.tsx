import { useEffect, useState } from 'preact/hooks';
import { openedWith } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { HeatMap } from '../heat-map.tsx';
import { labelOf } from '../labels.ts';
import { latest, useLoaded } from '../loading.ts';
import { Choice, Press, Show, useDraft } from '../parts.tsx';
import { csvOf } from '../tables.tsx';
import { usePanel } from './panel.ts';
import { PagedSentences, Sentences } from './sentences.tsx';
import { Walk } from './walk.tsx';

/** A sentence and its walk on the graph; what is written from the walk, sentences near it, and its attention. */
export function SentencePanel() {
  const { client, view, change, run, showWalk } = usePanel();
  const [picked, setPicked] = useState<{ text: string; walk: number[] } | null>(null);
  const key = view.text.trim() === '' ? null : `${view.text}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.reading({ text: view.text }, signal));
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
  const offers = (feature: string) => openedWith(run, feature) !== null;
  return (
    <>
      <Compose text={view.text} length={run.opened?.corpus.length ?? null} onRead={read} />
      {key === null ? null : (
        <Show of={loaded} what="Reading the sentence …">
          {(value) => <Walk encoded={value} truth={picked?.text === view.text ? picked.walk : null} />}
        </Show>
      )}
      {walk && offers('write') ? <Reconstruction walk={walk} /> : null}
      {walk && offers('attention') ? <Attention /> : null}
      {walk && offers('nearest') ? <Nearest walk={walk} onRead={read} /> : null}
      <Picker onPick={pick} />
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
  const [draft, setDraft] = useDraft(text);
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
      <SentenceField
        {...{ submit, id: 'sentence', rows: 3, value: draft, set: setDraft }}
        label={length === null ? 'A sentence of your own' : `Sentence of ${length} tokens`}
        placeholder="Type or paste a sentence, or pick one below"
      />
      <span class="buttons">
        <button type="submit" class="primary" disabled={draft.trim() === ''}>
          Read it
        </button>
        <Press disabled={draft === '' && text === ''} onClick={clear}>
          Clear
        </Press>
      </span>
    </form>
  );
}

interface FieldProps {
  id: string;
  label: string;
  rows: number;
  value: string;
  placeholder?: string;
  set(text: string): void;
  submit(event: Event): void;
}

/** A field for a sentence; Enter submits. */
export const SentenceField = ({ id, label, set, submit, ...field }: FieldProps) => (
  <>
    <label for={id}>{label}</label>
    <textarea
      {...{ id, ...field }}
      maxLength={20_000}
      spellcheck={false}
      onInput={(event) => set(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && !event.shiftKey && submit(event)}
    />
  </>
);

/** What the decoder makes of the walk alone, word by word the most probable. */
export function Reconstruction({ walk }: { walk: number[] }) {
  const { client, run, change } = usePanel();
  const key = `${walk.join(' ')}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.generate({ walk, force: true }, signal));
  return (
    <section aria-label="Reconstruction">
      <h3>Written again from the walk alone</h3>
      <Show of={loaded} what="Writing …">
        {({ samples }) => <blockquote class="written">{samples[0]!.text || '(nothing)'}</blockquote>}
      </Show>
      <Press class="plain" onClick={() => change({ panel: 'compose', walk })}>
        Write more from this walk
      </Press>
    </section>
  );
}

const MOST = 8;

interface NearestProps {
  walk: number[];
  onRead(text: string): void;
}

/** Sentences of the corpus whose walks share most steps with this one. */
export function Nearest({ walk, onRead }: NearestProps) {
  const { client, run } = usePanel();
  const key = `${walk.join(' ')}@${run.opened?.step}`;
  const loaded = useLoaded(key, (signal) => client.nearest({ walk, limit: MOST }, signal));
  const rows = csvOf(latest(loaded)?.sentences ?? [], {
    ...{ text: 'text', label: 'label', walk: (one) => one.walk.join(' ') },
    ...{ 'shared steps': 'shared', 'common symbols': 'common' },
  });
  return (
    <section class="nearest" aria-label="Nearest sentences">
      <TableHead name="nearest" rows={rows}>
        Nearest texts by their themes
      </TableHead>
      <Show of={loaded} what="Searching …">
        {({ sentences, encoded }) => (
          <>
            <Sentences
              of={sentences}
              onRead={({ text }) => onRead(text)}
              more={({ shared }) => (
                <span class="tag number">
                  {shared} of {walk.length} steps the same
                </span>
              )}
            />
            <p class="faint">of {encoded.toLocaleString('en')} texts that were read</p>
          </>
        )}
      </Show>
    </section>
  );
}

const PAGE = 8;
const SPLITS = ['test', 'valid', 'train'] as const;
type Split = (typeof SPLITS)[number];

/** Sentences of the corpus, page by page. */
export function Picker({ onPick }: { onPick(text: string, walk: number[] | null): void }) {
  const { client, run } = usePanel();
  const [split, setSplit] = useState<Split>('test');
  return (
    <section class="picker" aria-label="Sentences of the corpus">
      <h3>
        From the corpus{' '}
        <Choice
          {...{ label: 'Part of the corpus', unseen: true, options: SPLITS, value: split }}
          onChoose={(chosen: Split) => setSplit(chosen)}
        />
      </h3>
      <PagedSentences
        list={`${run.id} ${split}`}
        limit={PAGE}
        load={(offset, signal) => client.sentences({ split, offset, limit: PAGE }, signal)}
        onRead={({ text, walk }) => onPick(text, walk)}
      />
    </section>
  );
}

/** Which words attend to which symbols when the decoder writes the sentence. */
export function Attention() {
  const { client, run, graph, view, change } = usePanel();
  const { text, layer, head } = view;
  const key = `${text}@${run.opened?.step} ${layer} ${head}`;
  const loaded = useLoaded(key, (signal) =>
    client.attention({ text, ...(layer < 0 ? {} : { layer }), ...(head < 0 ? {} : { head }) }, signal),
  );
  const nameOf = (symbol: number) => (graph?.nodes[symbol] ? labelOf(graph.nodes[symbol]) : String(symbol));
  return (
    <section class="attention" aria-label="Attention">
      <h3>Words and the themes they attend to</h3>
      <Show of={loaded} what="Reading attention …">
        {({ tokens, walk, layers, heads, weights }) => (
          <>
            <p class="choices">
              <Choice
                {...{ label: 'Layer', options: numbered(layers), value: String(layer) }}
                onChoose={(at) => change({ layer: Number(at) })}
              />
              <Choice
                {...{ label: 'Head', options: numbered(heads), value: String(head) }}
                onChoose={(at) => change({ head: Number(at) })}
              />
            </p>
            <HeatMap
              name="attention"
              caption="Attention of each word onto the steps of the walk"
              rows={tokens.map((token) => token.trim() || '␣')}
              columns={walk.map(nameOf)}
              values={weights}
            />
          </>
        )}
      </Show>
    </section>
  );
}

/** Layers or heads, counted from one for people; the mean of all first. */
const numbered = (count: number) => [
  ['-1', 'mean of all'] as const,
  ...Array.from({ length: count }, (_, at) => [String(at), String(at + 1)] as const),
];
