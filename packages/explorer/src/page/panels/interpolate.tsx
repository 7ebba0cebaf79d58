import { useEffect, useState } from 'preact/hooks';
import type { Client } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { useLoaded } from '../loading.ts';
import { Choice, Empty, Failure, type Option, Press, Show } from '../parts.tsx';
import type { ViewState } from '../state.ts';
import { usePanel } from './panel.ts';
import { SentenceField } from './sentence.tsx';

type Interpolated = Awaited<ReturnType<Client['interpolate']>>;

/** The way from one sentence to another over the graph, each step with its text. */
export function InterpolatePanel() {
  const { client, run, view } = usePanel();
  const { from, to, variant } = view;
  const asked = from.trim() !== '' && to.trim() !== '';
  const key = asked ? JSON.stringify([from, to, variant, run.opened?.step]) : null;
  const loaded = useLoaded(key, (signal) => client.interpolate({ from, to, variant }, signal));
  return (
    <section class="between" aria-label="Interpolate">
      <Ask key={`${from} ${to}`} />
      {asked ? (
        <Show of={loaded} what="Walking from one to the other …">
          {(value) => <Way value={value} />}
        </Show>
      ) : (
        <Empty>Two sentences, and the graph leads from one to the other.</Empty>
      )}
    </section>
  );
}

function Ask() {
  const { view, change } = usePanel();
  const [from, setFrom] = useState(view.from);
  const [to, setTo] = useState(view.to);
  const submit = (event: Event) => {
    event.preventDefault();
    change({ from: from.trim(), to: to.trim() });
  };
  return (
    <form class="compose" onSubmit={submit}>
      <SentenceField {...{ submit, id: 'from', label: 'From', rows: 2, value: from, set: setFrom }} />
      <SentenceField {...{ submit, id: 'to', label: 'To', rows: 2, value: to, set: setTo }} />
      <span class="buttons">
        <button type="submit" class="primary" disabled={from.trim() === '' || to.trim() === ''}>
          Go
        </button>
        <Choice
          {...{ label: 'as in', value: view.variant, options: VARIANTS }}
          onChoose={(variant: ViewState['variant']) => change({ variant })}
        />
      </span>
    </form>
  );
}

const VARIANTS: Option[] = [
  ['window', 'the paper: a sliding window'],
  ['nodes', 'the authors’ program: node by node'],
];

function Way({ value }: { value: Interpolated }) {
  const { showWalk } = usePanel();
  const { from, to, steps, unreachable, path } = value;
  const [chosen, setChosen] = useState<number | null>(null);
  // The path begins and ends on the walks themselves.
  const whole = [...from.walk, ...(path?.slice(1, -1) ?? []), ...to.walk];
  const shown = chosen === null ? whole : (steps[chosen]?.walk ?? null);
  useEffect(() => {
    showWalk(unreachable === null ? shown : null);
    return () => showWalk(null);
  }, [value, chosen, showWalk]);
  if (unreachable !== null) return <Failure message={unreachable} />;
  const rows = () => [
    ['step', 'walk', 'text', 'on the graph'],
    ['from', from.walk.join(' '), from.text, 'yes'],
    ...steps.map(({ walk, text, onGraph }, at) => [at + 1, walk.join(' '), text, onGraph ? 'yes' : 'no']),
    ['to', to.walk.join(' '), to.text, 'yes'],
  ];
  return (
    <>
      <TableHead name="interpolation" rows={rows}>
        {steps.length} steps between
      </TableHead>
      <ol class="way" onMouseLeave={() => setChosen(null)}>
        <End text={from.text} walk={from.walk} />
        {steps.map((step, at) => (
          <Step key={at} {...step} pressed={chosen === at} choose={() => setChosen(at)} />
        ))}
        <End text={to.text} walk={to.walk} />
      </ol>
    </>
  );
}

type StepProps = Interpolated['steps'][number] & { pressed: boolean; choose(): void };

const Step = ({ walk, text, onGraph, pressed, choose }: StepProps) => (
  <li>
    <Press
      class="sentence"
      aria-pressed={pressed}
      title="Show this walk on the graph"
      onMouseEnter={choose}
      onFocus={choose}
      onClick={choose}
    >
      <span class="sentence-text">{text || '(nothing)'}</span>
      <span class="walk-line number">{walk.join(' → ')}</span>
      {onGraph ? null : <span class="weak">leaves the graph</span>}
    </Press>
  </li>
);

const End = ({ text, walk }: { text: string; walk: readonly number[] }) => (
  <li class="end">
    <span class="sentence-text">{text}</span>
    <span class="walk-line number">{walk.join(' → ')}</span>
  </li>
);
