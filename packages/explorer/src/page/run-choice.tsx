import type { Run, RunSummary } from './client.ts';
import { Choice } from './parts.tsx';
import type { Change, ViewState } from './state.ts';
import { NOTHING_ASKED } from './texts/use-texts.ts';

interface RunChoiceProps {
  run: Run | null;
  /** The run that was asked for, which may be one that cannot be shown. */
  asked: string;
  runs: readonly RunSummary[];
  change: Change;
}

/** What belongs to one run is not taken along to another. */
const LEFT_BEHIND = {
  ...NOTHING_ASKED,
  ...{
    walk: [],
    maps: [],
    point: null,
    level: 0,
    period: '',
    first: '',
    second: '',
    mapat: null,
    graphat: null,
  },
} as const satisfies Partial<ViewState>;

/** The run's name; a choice where several are served. */
export function RunChoice({ run, asked, runs, change }: RunChoiceProps) {
  if (runs.length < 2) return <span class="run-name">{run?.name}</span>;
  return (
    <Choice
      {...{ label: 'Run', unseen: true, class: 'run-name', value: run?.id ?? (asked || runs[0]!.id) }}
      options={runs.map(({ id, state }) => [id, state === 'damaged' ? `${id} (damaged)` : id])}
      onChoose={(id) => change({ ...LEFT_BEHIND, run: id })}
    />
  );
}
