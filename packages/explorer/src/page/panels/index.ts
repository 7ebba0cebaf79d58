import type { Panel } from './panel.ts';
import { RunPanel } from './run.tsx';
import { SentencePanel } from './sentence.tsx';
import { SymbolPanel } from './symbol.tsx';
import { TrainingPanel } from './training.tsx';

export const panels: readonly Panel[] = [
  { id: 'symbol', title: 'Symbol', Body: SymbolPanel },
  { id: 'sentence', title: 'Sentence', feature: 'encode', Body: SentencePanel },
  { id: 'training', title: 'Training', Body: TrainingPanel },
  { id: 'run', title: 'Run', Body: RunPanel },
];
