import type { Run, RunSummary } from './client.ts';
import type { Change } from './state.ts';

interface RunChoiceProps {
  run: Run | null;
  /** The run that was asked for, which may be one that cannot be shown. */
  asked: string;
  runs: readonly RunSummary[];
  change: Change;
}

/** The run's name; a choice where several are served. What belongs to one run is not taken along to another. */
export function RunChoice({ run, asked, runs, change }: RunChoiceProps) {
  if (runs.length < 2) return <span class="run-name">{run?.name}</span>;
  return (
    <select
      class="run-name"
      aria-label="Run"
      value={run?.id ?? (asked || runs[0]!.id)}
      onChange={(event) => change({ run: event.currentTarget.value, symbol: null, walk: [], maps: [] })}
    >
      {runs.map(({ id, state }) => (
        <option key={id} value={id}>
          {state === 'damaged' ? `${id} (damaged)` : id}
        </option>
      ))}
    </select>
  );
}
