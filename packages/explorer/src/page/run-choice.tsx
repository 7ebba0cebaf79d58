import type { Run, RunSummary } from './client.ts';
import type { Change } from './state.ts';

interface RunChoiceProps {
  run: Run | null;
  runs: readonly RunSummary[];
  change: Change;
}

/** The run's name; a choice where several are served. What belongs to one run is not taken along to another. */
export function RunChoice({ run, runs, change }: RunChoiceProps) {
  if (runs.length < 2) return <span class="run-name">{run?.name}</span>;
  return (
    <select
      class="run-name"
      aria-label="Run"
      value={run?.id ?? ''}
      onChange={(event) => change({ run: event.currentTarget.value, symbol: null, walk: [], maps: [] })}
    >
      {runs.map(({ id }) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </select>
  );
}
