import { useMemo } from 'preact/hooks';
import type { TimeAnswer } from '../client.ts';
import { passing } from './filter.ts';
import type { FilterProps } from './filter-form.tsx';

/** Texts from one period to another; bars say how many of what else is asked each period has. */
export function TimeFilter({ view, change, texts, time }: FilterProps & { time: TimeAnswer }) {
  const { periods } = time;
  const counts = useMemo(() => countPeriods(time, texts), [time, texts.data, texts.filter]);
  const most = Math.max(1, ...counts);
  const within = (at: number) =>
    periods[at]!.end > (view.since ?? Number.NEGATIVE_INFINITY) &&
    periods[at]!.start < (view.until ?? Number.POSITIVE_INFINITY);
  return (
    <fieldset class="time-filter">
      <legend>Time</legend>
      <div class="period-bars">
        {periods.map(({ label, start, end }, at) => (
          <button
            key={label}
            type="button"
            // The two choices below do the same with fewer keys.
            tabIndex={-1}
            class={within(at) ? 'within' : ''}
            title={`${label}: ${counts[at]!.toLocaleString('en')} texts`}
            onClick={() => change({ since: start, until: end })}
          >
            <span style={{ height: `${(100 * counts[at]!) / most}%` }} />
          </button>
        ))}
      </div>
      <p class="chips">
        <Choice
          {...{ name: 'From', none: 'the beginning', value: view.since }}
          times={periods.map(({ label, start }) => ({ label, time: start }))}
          onChange={(since) => change({ since })}
        />
        <Choice
          {...{ name: 'To', none: 'the end', value: view.until }}
          times={periods.map(({ label, end }) => ({ label, time: end }))}
          onChange={(until) => change({ until })}
        />
      </p>
    </fieldset>
  );
}

interface ChoiceProps {
  name: string;
  /** What no choice is called. */
  none: string;
  value: number | null;
  times: readonly { label: string; time: number }[];
  onChange(time: number | null): void;
}

function Choice({ name, none, value, times, onChange }: ChoiceProps) {
  // A time of an address that is no period's own.
  const other = value !== null && !times.some(({ time }) => time === value) ? value : null;
  return (
    <label class="choice">
      {name.toLowerCase()}
      <select
        aria-label={name}
        value={String(value ?? '')}
        onChange={(event) => onChange(numberOf(event.currentTarget.value))}
      >
        <option value="">{none}</option>
        {other === null ? null : (
          <option value={String(other)}>{new Date(other).toISOString().slice(0, 10)}</option>
        )}
        {times.map(({ label, time }) => (
          <option key={label} value={String(time)}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

const numberOf = (text: string): number | null => (text === '' ? null : Number(text));

/** Texts of each period that are selected but for the time that is asked. */
function countPeriods({ periods }: TimeAnswer, { data, filter }: FilterProps['texts']): Uint32Array {
  const counts = new Uint32Array(periods.length);
  const selected = passing(data, filter, 'between');
  const starts = periods.map(({ start }) => start);
  const last = periods.at(-1)?.end ?? 0;
  for (let n = 0; n < selected.length; n++) {
    const time = data.times?.[n] ?? Number.NaN;
    if (selected[n] === 0 || !(time >= starts[0]! && time < last)) continue;
    counts[placeOf(starts, time)]!++;
  }
  return counts;
}

/** The last start that is not later. */
function placeOf(starts: readonly number[], time: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
