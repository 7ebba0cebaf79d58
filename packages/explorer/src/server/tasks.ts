import type { Answer, Input, Opened } from '../shared/api.ts';

/** Endpoints that need the model, and so the worker. */
export type ModelEndpoint = 'graph' | 'symbol' | 'rename' | 'encode' | 'sentences';
export type TaskName = 'opened' | ModelEndpoint;

export type TaskInput<N extends TaskName> = N extends ModelEndpoint ? Input<N> : unknown;
export type TaskAnswer<N extends TaskName> = N extends ModelEndpoint ? Answer<N> : Opened;

export type Task = { [N in TaskName]: { id: number; name: N; input: TaskInput<N> } }[TaskName];

export interface Outcome {
  id: number;
  value?: unknown;
  fault?: { status: number; code: string; message: string };
}
