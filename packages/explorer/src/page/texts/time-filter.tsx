import { useMemo } from 'preact/hooks';
import type { TimeAnswer } from '../client.ts';
import { usePanel } from '../panels/panel.ts';
import { Choice, type Option, Press } from '../parts.tsx';
import { passing } from './filter.ts';
import type { FilterProps } from './filter-form.tsx';

/** Texts from one period to another; bars say how many of what else is asked each period has. */
export function TimeFilter({ texts, time }: FilterProps & { time: TimeAnswer }) {
  const { view, change } = usePanel();
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
          <Press
            key={label}
            // The two choices below do the same with fewer keys.
            tabIndex={-1}
            class={within(at) ? 'within' : ''}
            title={`${label}: ${counts[at]!.toLocaleString('en')} texts`}
            onClick={() => change({ since: start, until: end })}
          >
            <span style={{ height: `${(100 * counts[at]!) / most}%` }} />
          </Press>
        ))}
      </div>
      <Between periods={periods} />
    </fieldset>
  );
}

/** From the beginning of one period to the end of another. */
function Between({ periods }: Pick<TimeAnswer, 'periods'>) {
  const { view, change } = usePanel();
  return (
    <p class="chips">
      <Choice
        {...{ label: 'From', value: String(view.since ?? '') }}
        options={timesOf(
          'the beginning',
          view.since,
          periods.map(({ label, start }) => [start, label]),
        )}
        onChoose={(since) => change({ since: numberOf(since) })}
      />
      <Choice
        {...{ label: 'To', value: String(view.until ?? '') }}
        options={timesOf(
          'the end',
          view.until,
          periods.map(({ label, end }) => [end, label]),
        )}
        onChoose={(until) => change({ until: numberOf(until) })}
      />
    </p>
  );
}

/** No time, the periods' own, and one of the address that is none of these. */
function timesOf(none: string, value: number | null, times: readonly [number, string][]): Option[] {
  const isOther = value !== null && !times.some(([time]) => time === value);
  return [
    ['', none],
    ...(isOther ? [[String(value), new Date(value).toISOString().slice(0, 10)] as const] : []),
    ...times.map(([time, label]) => [String(time), label] as const),
  ];
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
