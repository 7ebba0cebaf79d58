import { ComparePanel } from './compare.tsx';
import { ComposePanel } from './compose.tsx';
import { InterpolatePanel } from './interpolate.tsx';
import { LabelsPanel } from './labels.tsx';
import { LevelsPanel } from './levels.tsx';
import type { Panel } from './panel.ts';
import { ReasonPanel } from './reason.tsx';
import { RunPanel } from './run.tsx';
import { RunsPanel } from './runs.tsx';
import { SentencePanel } from './sentence.tsx';
import { SymbolPanel } from './symbol.tsx';
import { TextsPanel } from './texts.tsx';
import { TimePanel } from './time.tsx';
import { TrainingPanel } from './training.tsx';

export const panels: readonly Panel[] = [
  { id: 'symbol', title: 'Symbol', Body: SymbolPanel },
  { id: 'texts', title: 'Texts', feature: 'map', Body: TextsPanel },
  { id: 'compare', title: 'Compare', feature: 'compare', Body: ComparePanel },
  { id: 'time', title: 'Time', feature: 'time', Body: TimePanel },
  { id: 'levels', title: 'Levels', feature: 'levels', Body: LevelsPanel },
  { id: 'sentence', title: 'Sentence', feature: 'encode', Body: SentencePanel },
  { id: 'compose', title: 'Compose', feature: 'write', Body: ComposePanel },
  { id: 'interpolate', title: 'Interpolate', feature: 'interpolate', Body: InterpolatePanel },
  { id: 'labels', title: 'Labels', feature: 'labels', Body: LabelsPanel },
  { id: 'reason', title: 'Reason', feature: 'reason', Body: ReasonPanel },
  { id: 'training', title: 'Training', Body: TrainingPanel },
  { id: 'runs', title: 'Runs', Body: RunsPanel },
  { id: 'run', title: 'Run', Body: RunPanel },
];
