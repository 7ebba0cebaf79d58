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
        <label class="choice">
          from
          <select
            aria-label="From"
            value={String(view.since ?? '')}
            onChange={(event) => change({ since: numberOf(event.currentTarget.value) })}
          >
            <option value="">the beginning</option>
            <Other time={view.since} known={periods.map(({ start }) => start)} />
            {periods.map(({ label, start }) => (
              <option key={label} value={String(start)}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label class="choice">
          to
          <select
            aria-label="To"
            value={String(view.until ?? '')}
            onChange={(event) => change({ until: numberOf(event.currentTarget.value) })}
          >
            <option value="">the end</option>
            <Other time={view.until} known={periods.map(({ end }) => end)} />
            {periods.map(({ label, end }) => (
              <option key={label} value={String(end)}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </p>
    </fieldset>
  );
}

/** A time of an address that is no period's own. */
const Other = ({ time, known }: { time: number | null; known: readonly number[] }) =>
  time === null || known.includes(time) ? null : (
    <option value={String(time)}>{new Date(time).toISOString().slice(0, 10)}</option>
  );

const numberOf = (text: string): number | null => (text === '' ? null : Number(text));

/** Texts of each period that are lit but for the time that is asked. */
function countPeriods({ periods }: TimeAnswer, { data, filter }: FilterProps['texts']): Uint32Array {
  const counts = new Uint32Array(periods.length);
  const lit = passing(data, filter, 'between');
  const starts = periods.map(({ start }) => start);
  const last = periods.at(-1)?.end ?? 0;
  for (let n = 0; n < lit.length; n++) {
    const time = data.times?.[n] ?? Number.NaN;
    if (lit[n] === 0 || !(time >= starts[0]! && time < last)) continue;
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
