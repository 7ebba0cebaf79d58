import { ComparePanel } from './compare.tsx';
import { ComposePanel } from './compose.tsx';
import { InterpolatePanel } from './interpolate.tsx';
import { LabelsPanel } from './labels.tsx';
import { LevelsPanel } from './levels.tsx';
import type { Panel, Place } from './panel.ts';
import { ReasonPanel } from './reason.tsx';
import { RunPanel } from './run.tsx';
import { RunsPanel } from './runs.tsx';
import { SentencePanel } from './sentence.tsx';
import { SymbolPanel } from './symbol.tsx';
import { TextsPanel } from './texts.tsx';
import { TimePanel } from './time.tsx';
import { TrainingPanel } from './training.tsx';

/** The places beside the picture, each with what it shows; the first of a place is what opens. */
const places: readonly Place[] = [
  {
    title: 'Themes',
    panels: [
      { id: 'symbol', title: 'Main themes', Body: SymbolPanel },
      { id: 'levels', title: 'Fewer, broader', feature: 'levels', Body: LevelsPanel },
    ],
  },
  {
    title: 'Texts',
    panels: [
      { id: 'texts', title: 'Find texts', feature: 'map', Body: TextsPanel },
      { id: 'sentence', title: 'Read a sentence', feature: 'encode', Body: SentencePanel },
    ],
  },
  {
    title: 'Compare',
    panels: [
      { id: 'compare', title: 'Two groups', feature: 'compare', Body: ComparePanel },
      { id: 'labels', title: 'Each label', feature: 'labels', Body: LabelsPanel },
    ],
  },
  { title: 'Time', panels: [{ id: 'time', title: 'Time', feature: 'time', Body: TimePanel }] },
  {
    title: 'Model',
    panels: [
      { id: 'reason', title: 'Reason', feature: 'reason', Body: ReasonPanel },
      { id: 'run', title: 'This run', Body: RunPanel },
      { id: 'training', title: 'Training', Body: TrainingPanel },
      { id: 'runs', title: 'All runs', Body: RunsPanel },
      { id: 'compose', title: 'Write', feature: 'write', Body: ComposePanel },
      { id: 'interpolate', title: 'Between two', feature: 'interpolate', Body: InterpolatePanel },
    ],
  },
];

/** Places and panels that a run with these features has; a place without panels is left out. */
export function offeredPlaces(features: readonly string[]): Place[] {
  const offered = ({ feature }: Panel) => feature === undefined || features.includes(feature);
  return places
    .map(({ title, panels }) => ({ title, panels: panels.filter(offered) }))
    .filter(({ panels }) => panels.length > 0);
}
