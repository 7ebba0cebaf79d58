import { useEffect, useState } from 'preact/hooks';
import { TableHead } from '../figure.tsx';
import { titleIn } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Empty, Press, Segments, Show } from '../parts.tsx';
import { toggled } from '../state.ts';
import { csvOf } from '../tables.tsx';
import { usePanel } from './panel.ts';
import { Answers, movesIn, type Reasoned, type Result } from './reason-answers.tsx';
import { Paths } from './reason-paths.tsx';

/** What may follow an event: for each relation different objects, the walks that lead to them, and what they are like. */
export function ReasonPanel() {
  const { client, run, view, graph } = usePanel();
  const { event, answers: count } = view;
  const [relations, along] = [[...view.relations], [...view.along]];
  const key = event === '' ? null : JSON.stringify([event, relations, count, along, run.opened?.step]);
  const loaded = useLoaded(key, (signal) => client.reason({ event, relations, count, along }, signal));
  return (
    <section class="reason" aria-label="Reason">
      <Ask key={event} />
      {key === null || !graph ? (
        <Empty>
          Write an event, such as “PersonX goes home”: the answers say what may follow, and by which path.
        </Empty>
      ) : (
        <>
          <Begun />
          <Show of={loaded} what="Looking for answers …">
            {(value) => <Results value={value} busy={loaded.state === 'loading'} />}
          </Show>
        </>
      )}
    </section>
  );
}

function Ask() {
  const { view, change } = usePanel();
  const [event, setEvent] = useState(view.event);
  const submit = (submitted: Event) => {
    submitted.preventDefault();
    change({ event: event.trim(), along: [] });
  };
  return (
    <form class="compose" onSubmit={submit}>
      <label for="event">Event</label>
      <input
        id="event"
        maxLength={2000}
        autocomplete="off"
        placeholder="PersonX goes home"
        value={event}
        onInput={(typed) => setEvent(typed.currentTarget.value)}
      />
      <Relations />
      <span class="buttons">
        <button type="submit" class="primary" disabled={event.trim() === ''}>
          What follows?
        </button>
        <label class="choice">
          answers
          <input
            type="number"
            min={1}
            max={20}
            value={view.answers}
            onChange={({ currentTarget: { value } }) => {
              const answers = Number(value);
              if (Number.isInteger(answers) && answers >= 1 && answers <= 20) change({ answers });
            }}
          />
        </label>
      </span>
    </form>
  );
}

function Relations() {
  const { run, view, change } = usePanel();
  const toggle = (name: string) => change({ along: [], relations: toggled(view.relations, name) });
  return (
    <fieldset class="sampling">
      <legend>Relations; all where none is ticked</legend>
      {run.opened?.relations.map(({ name, meaning }) => (
        <label key={name} class="check row" title={meaning}>
          <input type="checkbox" checked={view.relations.includes(name)} onChange={() => toggle(name)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The steps that walks were told to begin with. */
function Begun() {
  const { view, change, graph } = usePanel();
  if (view.along.length === 0) return null;
  return (
    <p class="begun">
      <span>
        Paths that begin with{' '}
        {view.along.map((symbol, at) => (
          <>
            {at > 0 ? ' → ' : ''}
            <b>{titleIn(graph, symbol)}</b>
          </>
        ))}
      </span>
      <Press class="let-go" onClick={() => change({ along: [] })}>
        Any path
      </Press>
    </p>
  );
}

function Results({ value, busy }: { value: Reasoned; busy: boolean }) {
  const { showWalk, showPaths } = usePanel();
  const [asked, setAsked] = useState<string | null>(null);
  // One relation at a time.
  const drawn = value.results.find(({ relation }) => relation === asked) ?? value.results[0];
  useEffect(() => {
    showPaths(drawn ? drawn.candidates.map(({ walk }) => movesIn(walk)) : null);
    return () => showPaths(null);
  }, [value, drawn?.relation, showPaths]);
  useEffect(() => () => showWalk(null), [value, showWalk]);
  return (
    <div aria-busy={busy} class={busy ? 'stale' : ''}>
      <TableHead name="reasoning" rows={rowsOf(value)}>
        What follows <span class="hint">{value.event}</span>
      </TableHead>
      {value.results.length > 1 ? (
        <Segments
          label="Relation"
          of={value.results.map(({ relation, meaning }) => ({
            ...{ value: relation, name: relation, about: meaning },
          }))}
          value={drawn?.relation ?? ''}
          onChoose={setAsked}
        />
      ) : null}
      {drawn ? <OneRelation key={drawn.relation} result={drawn} event={value.event} /> : null}
      <p class="faint">by the path model “{value.path}”</p>
    </div>
  );
}

/** The answers of one relation, each with its path; all paths as a tree below. */
const OneRelation = ({ event, result }: { result: Result; event: string }) => {
  const { relation, meaning, candidates } = result;
  return (
    <section data-relation={relation}>
      <h4>
        {relation} <span class="faint">{meaning}</span>
      </h4>
      <Answers key={JSON.stringify([event, candidates[0]?.walk])} result={result} />
      {candidates.length > 1 ? (
        <details class="fold">
          <summary>All paths as a tree</summary>
          <Paths result={result} />
        </details>
      ) : null}
    </section>
  );
};

const rowsOf = ({ results }: Reasoned) =>
  csvOf(
    results.flatMap(({ relation, candidates }) => candidates.map((one) => ({ relation, ...one }))),
    {
      ...{ relation: 'relation', object: 'object', walk: ({ walk }) => walk.join(' ') },
      'walk in words': ({ words }) => words?.map((some) => some.join('/')).join(' → ') ?? '',
      like: ({ like }) => like.map(({ event, object }) => `${event} → ${object}`).join('; '),
      ...{ score: 'score', 'log p of the walk': 'walkLogProb', 'log p of the object': 'objectLogProb' },
      walks: 'walks',
    },
  );
