import type { Labels } from '../client.ts';
import { labelColour } from './colours.ts';

/** Which colour is which label. */
export const Legend = ({ labels }: { labels: Labels }) => (
  <ul class="legend" aria-label="Colours of the labels">
    {labels.maps.map(({ label }, at) => (
      <li key={label}>
        <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
          <circle cx="5" cy="5" r="5" fill={labelColour(at)} />
        </svg>
        {label}
      </li>
    ))}
  </ul>
);
