import { type ComponentChild, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Client, Graph, Labels, Run, RunSummary, TimeAnswer } from '../client.ts';
import type { Grouping } from '../levels/grouped.ts';
import type { Edits } from '../levels/use-edits.ts';
import type { Change, ViewState } from '../state.ts';
import type { Texts } from '../texts/use-texts.ts';

/** What every panel is given, and the picture beside them. */
export interface PanelProps {
  client: Client;
  run: Run;
  /** All runs that are served. */
  runs: readonly RunSummary[];
  graph: Graph | null;
  labels: Labels | null;
  /** The texts of the run and which of them are selected; null until they are there, or why they cannot be. */
  texts: Texts | null;
  textsFailure: string | null;
  /** Shares over time, where texts have dates. */
  time: TimeAnswer | null;
  timeFailure: string | null;
  view: ViewState;
  change: Change;
  dark: boolean;
  /** Selects a symbol and flies to it. */
  goTo(symbol: number): void;
  /** Lights a walk up on the graph. */
  showWalk(walk: readonly number[] | null): void;
  /** Lights several walks up, where no single one is, the thicker the more of them pass. */
  showPaths(paths: readonly (readonly number[])[] | null): void;
  /** Symbols as groups, where a coarser level is drawn. */
  grouping: Grouping | null;
  edits: Edits;
}

export const PanelContext = createContext<PanelProps | null>(null);

/** The same, for any part of a panel or of the picture. */
export const usePanel = (): PanelProps => useContext(PanelContext)!;

/** A tab beside the picture, with what stands there. */
export interface Place {
  title: string;
  panels: readonly Panel[];
}

/** What stands in a place. One that needs a feature appears on runs that have it. */
export interface Panel {
  id: string;
  title: string;
  feature?: string;
  Body(): ComponentChild;
}
