import type { Change, ViewState } from '../state.ts';

interface Control {
  name: 'count' | 'temperature' | 'topp' | 'topk' | 'seed';
  label: string;
  hint: string;
  min: number;
  max: number;
  step: number;
}

const controls: readonly Control[] = [
  { name: 'count', label: 'Samples', hint: 'sentences at once', min: 1, max: 20, step: 1 },
  {
    ...{ name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 0.05 },
    hint: '0 takes the best token each time',
  },
  {
    ...{ name: 'topp', label: 'Top p', min: 0.05, max: 1, step: 0.05 },
    hint: 'only the best tokens that together have this probability',
  },
  { name: 'topk', label: 'Top k', hint: 'only the k best tokens; 0 for all', min: 0, max: 1000, step: 1 },
  { name: 'seed', label: 'Seed', hint: 'the same seed writes the same', min: 0, max: 2 ** 31, step: 1 },
];

/** How tokens are drawn. */
export const Sampling = ({ view, change }: { view: ViewState; change: Change }) => (
  <fieldset class="sampling">
    <legend>Sampling</legend>
    {controls.map(({ name, label, hint, ...range }) => (
      <label key={name} title={hint}>
        {label}
        <input
          type="number"
          value={view[name]}
          {...range}
          onChange={(event) => {
            const value = Number(event.currentTarget.value);
            if (value >= range.min && value <= range.max) change({ [name]: value });
          }}
        />
      </label>
    ))}
  </fieldset>
);
