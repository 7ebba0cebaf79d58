import { useEffect, useState } from 'preact/hooks';
import type { Client } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { useLoaded } from '../loading.ts';
import { Empty, Failure, Show } from '../parts.tsx';
import type { ViewState } from '../state.ts';
import type { PanelProps } from './panel.ts';

type Interpolated = Awaited<ReturnType<Client['interpolate']>>;

/** The way from one sentence to another over the graph, each step with its text. */
export function InterpolatePanel(props: PanelProps) {
  const { client, run, view, change } = props;
  const { from, to, variant } = view;
  const asked = from.trim() !== '' && to.trim() !== '';
  const key = asked ? JSON.stringify([from, to, variant, run.opened?.step]) : null;
  const loaded = useLoaded(key, (signal) => client.interpolate({ from, to, variant }, signal));
  return (
    <section class="between" aria-label="Interpolate">
      <Ask key={`${from} ${to}`} view={view} onAsk={change} />
      {asked ? (
        <Show of={loaded} what="Walking from one to the other …">
          {(value) => <Way {...props} value={value} />}
        </Show>
      ) : (
        <Empty>Two sentences, and the graph leads from one to the other.</Empty>
      )}
    </section>
  );
}

interface AskProps {
  view: ViewState;
  onAsk(change: Partial<ViewState>): void;
}

function Ask({ view, onAsk }: AskProps) {
  const [from, setFrom] = useState(view.from);
  const [to, setTo] = useState(view.to);
  const submit = (event: Event) => {
    event.preventDefault();
    onAsk({ from: from.trim(), to: to.trim() });
  };
  return (
    <form class="compose" onSubmit={submit}>
      <Sentence {...{ submit, id: 'from', label: 'From', value: from, set: setFrom }} />
      <Sentence {...{ submit, id: 'to', label: 'To', value: to, set: setTo }} />
      <span class="buttons">
        <button type="submit" class="primary" disabled={from.trim() === '' || to.trim() === ''}>
          Go
        </button>
        <label class="choice">
          as in
          <select
            value={view.variant}
            onChange={(event) => onAsk({ variant: event.currentTarget.value as ViewState['variant'] })}
          >
            <option value="window">the paper: a sliding window</option>
            <option value="nodes">the authors’ program: node by node</option>
          </select>
        </label>
      </span>
    </form>
  );
}

interface SentenceProps {
  id: string;
  label: string;
  value: string;
  set(text: string): void;
  submit(event: Event): void;
}

const Sentence = ({ id, label, value, set, submit }: SentenceProps) => (
  <>
    <label for={id}>{label}</label>
    <textarea
      id={id}
      rows={2}
      maxLength={20_000}
      spellcheck={false}
      value={value}
      onInput={(event) => set(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && !event.shiftKey && submit(event)}
    />
  </>
);

function Way({ value, showWalk }: PanelProps & { value: Interpolated }) {
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
    <button
      type="button"
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
    </button>
  </li>
);

const End = ({ text, walk }: { text: string; walk: readonly number[] }) => (
  <li class="end">
    <span class="sentence-text">{text}</span>
    <span class="walk-line number">{walk.join(' → ')}</span>
  </li>
);
