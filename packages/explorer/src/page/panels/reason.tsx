import { useEffect, useState } from 'preact/hooks';
import { TableHead } from '../figure.tsx';
import { titleIn } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Empty, Show } from '../parts.tsx';
import type { PanelProps } from './panel.ts';
import { Answers, movesIn, type Reasoned, type ResultProps } from './reason-answers.tsx';
import { Paths } from './reason-paths.tsx';

/** What may follow an event: for each relation different objects, the walks that lead to them, and what they are like. */
export function ReasonPanel(props: PanelProps) {
  const { client, run, view, graph } = props;
  const { event, answers: count } = view;
  const [relations, along] = [[...view.relations], [...view.along]];
  const key = event === '' ? null : JSON.stringify([event, relations, count, along, run.opened?.step]);
  const loaded = useLoaded(key, (signal) => client.reason({ event, relations, count, along }, signal));
  return (
    <section class="reason" aria-label="Reason">
      <Ask key={event} {...props} />
      {key === null || !graph ? (
        <Empty>
          Write an event, such as “PersonX goes home”: the answers say what may follow, and by which path.
        </Empty>
      ) : (
        <>
          <Begun {...props} />
          <Show of={loaded} what="Looking for answers …">
            {(value) => <Results {...props} value={value} busy={loaded.state === 'loading'} />}
          </Show>
        </>
      )}
    </section>
  );
}

function Ask({ run, view, change }: PanelProps) {
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
      <Relations known={run.opened?.relations ?? []} {...{ view, change }} />
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

interface RelationsProps extends Pick<PanelProps, 'view' | 'change'> {
  known: readonly { name: string; meaning: string }[];
}

function Relations({ known, view, change }: RelationsProps) {
  const toggle = (name: string) =>
    change({
      along: [],
      relations: view.relations.includes(name)
        ? view.relations.filter((one) => one !== name)
        : [...view.relations, name],
    });
  return (
    <fieldset class="sampling">
      <legend>Relations; all where none is ticked</legend>
      {known.map(({ name, meaning }) => (
        <label key={name} class="check row" title={meaning}>
          <input type="checkbox" checked={view.relations.includes(name)} onChange={() => toggle(name)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The steps that walks were told to begin with. */
function Begun({ view, change, graph }: PanelProps) {
  if (view.along.length === 0) return null;
  return (
    <p class="begun">
      <span>
        Paths that begin with{' '}
        {view.along.map((symbol, at) => (
          <>
            {at > 0 ? ' → ' : ''}
            <b>{titleIn(graph, symbol) || symbol}</b>
          </>
        ))}
      </span>
      <button type="button" class="let-go" onClick={() => change({ along: [] })}>
        Any path
      </button>
    </p>
  );
}

function Results(props: PanelProps & { value: Reasoned; busy: boolean }) {
  const { value, busy, showWalk, showPaths } = props;
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
      <TableHead name="reasoning" rows={() => rowsOf(value)}>
        What follows <span class="hint">{value.event}</span>
      </TableHead>
      {value.results.length > 1 ? (
        <fieldset class="segments relations" aria-label="Relation">
          {value.results.map(({ relation, meaning }) => (
            <button
              key={relation}
              type="button"
              title={meaning}
              aria-pressed={relation === drawn?.relation}
              onClick={() => setAsked(relation)}
            >
              {relation}
            </button>
          ))}
        </fieldset>
      ) : null}
      {drawn ? <OneRelation key={drawn.relation} {...props} result={drawn} event={value.event} /> : null}
      <p class="faint">by the path model “{value.path}”</p>
    </div>
  );
}

/** The answers of one relation, each with its path; all paths as a tree below. */
const OneRelation = ({ event, ...props }: ResultProps & { event: string }) => {
  const { relation, meaning, candidates } = props.result;
  return (
    <section data-relation={relation}>
      <h4>
        {relation} <span class="faint">{meaning}</span>
      </h4>
      <Answers key={JSON.stringify([event, candidates[0]?.walk])} {...props} />
      {candidates.length > 1 ? (
        <details class="fold">
          <summary>All paths as a tree</summary>
          <Paths {...props} />
        </details>
      ) : null}
    </section>
  );
};

const rowsOf = ({ results }: Reasoned) => [
  [
    ...['relation', 'object', 'walk', 'walk in words', 'like', 'score'],
    ...['log p of the walk', 'log p of the object', 'walks'],
  ],
  ...results.flatMap(({ relation, candidates }) =>
    candidates.map((one) => [
      ...[
        relation,
        one.object,
        one.walk.join(' '),
        one.words?.map((some) => some.join('/')).join(' → ') ?? '',
      ],
      one.like.map(({ event, object }) => `${event} → ${object}`).join('; '),
      ...[one.score, one.walkLogProb, one.objectLogProb, one.walks],
    ]),
  ),
];
