import type { Generator, Tensor, TensorOptions } from '@hidden-schema/torch';
import type { LogZero } from '../categorical.ts';
import type { WalkPosterior } from '../posterior.ts';
import type { WalkPrior, WalkPriorKind } from '../prior.ts';
import type { TransitionForm } from '../transition.ts';
import type { WalkableGraph } from '../walkable-graph.ts';

/** The settings of schemata that a process is made from. */
interface ProcessSettings {
  readonly prior: WalkPriorKind;
  readonly posterior: 'graph' | 'mean-field' | 'complete';
  readonly form: TransitionForm['kind'];
  readonly constant: number;
  readonly range?: number | 'none' | undefined;
  readonly stays: boolean;
}

/** What a schema is: how L symbols hang together, before a text is read (prior) and after (posterior). */
export interface SchemaProcess {
  /** p(z|A); its weights are part of the network. */
  readonly prior: WalkPrior;
  /** q(z|x, A) of a batch, from scores h^enc [B, L, K]. */
  posterior(scores: Tensor, graph: WalkableGraph): WalkPosterior;
}

/** Makes a process for K symbols (`nodes`) and schemata of L (`length`). */
export type SchemaProcessMaker = (parts: {
  settings: ProcessSettings;
  logZero: LogZero;
  nodes: number;
  length: number;
  generator: Generator;
  options: TensorOptions;
}) => SchemaProcess;

/** The form of transitions that the settings name. */
export function formOf({ form, constant, range }: ProcessSettings): TransitionForm {
  return { kind: form, constant, ...(typeof range === 'number' ? { range } : {}) };
}
