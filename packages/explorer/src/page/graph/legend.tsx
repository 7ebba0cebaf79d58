import type { Labels } from '../client.ts';
import { Dot } from '../parts.tsx';
import { labelColour } from './colours.ts';

/** Which colour is which label. */
export const Legend = ({ labels }: { labels: Labels }) => (
  <ul class="legend" aria-label="Colours of the labels">
    {labels.maps.map(({ label }, at) => (
      <li key={label}>
        <Dot colour={labelColour(at)} square />
        {label}
      </li>
    ))}
  </ul>
);
