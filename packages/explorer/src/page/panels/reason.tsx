import { useState } from 'preact/hooks';
import type { Client } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { decimal } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { Empty, Show } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

type Reasoned = Awaited<ReturnType<Client['reason']>>;
const COUNT = 5;

/** What may follow an event: for each relation the objects, and the paths over the graph that lead to them. */
export function ReasonPanel(props: PanelProps) {
  const { client, run, view } = props;
  const relations = [...view.relations];
  const key = view.event === '' ? null : JSON.stringify([view.event, relations, run.opened?.step]);
  const loaded = useLoaded(key, (signal) =>
    client.reason({ event: view.event, relations, count: COUNT }, signal),
  );
  return (
    <section class="reason" aria-label="Reason">
      <Ask {...props} />
      {key === null ? (
        <Empty>An event, such as “PersonX goes home”, and the graph leads to what may follow.</Empty>
      ) : (
        <Show of={loaded} what="Walking on …">
          {(value) => <Results {...props} value={value} />}
        </Show>
      )}
    </section>
  );
}

function Ask({ run, view, change }: PanelProps) {
  const [event, setEvent] = useState(view.event);
  const known = run.opened?.relations ?? [];
  const submit = (submitted: Event) => {
    submitted.preventDefault();
    change({ event: event.trim() });
  };
  const toggle = (name: string) =>
    change({
      relations: view.relations.includes(name)
        ? view.relations.filter((one) => one !== name)
        : [...view.relations, name],
    });
  return (
    <form class="compose" onSubmit={submit}>
      <label for="event">Event</label>
      <input
        id="event"
        maxLength={2000}
        autocomplete="off"
        value={event}
        onInput={(typed) => setEvent(typed.currentTarget.value)}
      />
      <fieldset class="sampling">
        <legend>Relations; all where none is ticked</legend>
        {known.map(({ name, meaning }) => (
          <label key={name} class="check row" title={meaning}>
            <input type="checkbox" checked={view.relations.includes(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
      </fieldset>
      <span class="buttons">
        <button type="submit" class="primary" disabled={event.trim() === ''}>
          What follows?
        </button>
      </span>
    </form>
  );
}

function Results({ value, showWalk }: PanelProps & { value: Reasoned }) {
  const rows = () => [
    ['relation', 'object', 'walk', 'score', 'log p of the walk', 'log p of the object', 'walks'],
    ...value.results.flatMap(({ relation, candidates }) =>
      candidates.map((one) => [
        ...[relation, one.object, one.walk.join(' ')],
        ...[one.score, one.walkLogProb, one.objectLogProb, one.walks],
      ]),
    ),
  ];
  return (
    <>
      <TableHead name="reasoning" rows={rows}>
        What follows <span class="hint">{value.event}</span>
      </TableHead>
      {value.results.map(({ relation, meaning, candidates }) => (
        <section key={relation} data-relation={relation}>
          <h4>
            {relation} <span class="faint">{meaning}</span>
          </h4>
          <ol class="way" onMouseLeave={() => showWalk(null)}>
            {candidates.map((one, at) => (
              <Candidate key={at} {...one} showWalk={showWalk} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

type CandidateProps = Reasoned['results'][number]['candidates'][number] & Pick<PanelProps, 'showWalk'>;

const Candidate = ({ object, walk, score, showWalk }: CandidateProps) => (
  <li>
    <button
      type="button"
      class="sentence"
      title="Show this path on the graph"
      onMouseEnter={() => showWalk(walk)}
      onFocus={() => showWalk(walk)}
      onBlur={() => showWalk(null)}
      onClick={() => showWalk(walk)}
    >
      <span class="sentence-text">{object || '(nothing)'}</span>
      <span class="tag number" title="log p of path and object">
        {decimal(Number(score.toFixed(2)))}
      </span>
      <span class="walk-line number">{walk.join(' → ')}</span>
    </button>
  </li>
);
