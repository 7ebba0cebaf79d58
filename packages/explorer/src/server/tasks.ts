import type { Answer, EndpointName, Input, Opened } from '../shared/api.ts';
import type { AnalysisTask } from './analyses.ts';

/** Endpoints that are answered without the model, on the main thread. */
export type FactEndpoint = 'runs' | 'run' | 'metrics' | 'curves' | 'evaluation';
/** Endpoints that need the model, and so its process. */
export type ModelEndpoint = Exclude<EndpointName, FactEndpoint>;
/** What each task takes and answers; an analysis answers with what its declaration says, as plain JSON. */
type Tasks = { [N in ModelEndpoint]: [Input<N>, Answer<N>] } & {
  opened: [unknown, Opened];
  analysis: [AnalysisTask, unknown];
};
export type TaskName = keyof Tasks;
export type TaskInput<N extends TaskName> = Tasks[N][0];
export type TaskAnswer<N extends TaskName> = Tasks[N][1];

/** What goes with a task beside its input. */
export interface TaskContext {
  /** Aborted when the client has left. */
  signal: AbortSignal;
  /** Told after each token that is written. */
  onToken(): void;
}

/** Answers every task, or says why this run cannot. */
export type TaskHandlers = {
  [N in TaskName]: (input: TaskInput<N>, context: TaskContext) => TaskAnswer<N> | Promise<TaskAnswer<N>>;
};

export type Task = { [N in TaskName]: { id: number; name: N; input: TaskInput<N> } }[TaskName];
/** To the worker: do this, or stop that. */
export type Message = { task: Task } | { leave: number };

export interface Outcome {
  id: number;
  value?: unknown;
  fault?: { status: number; code: string; message: string };
}
/** From the worker: done, what it is at, or that it has opened the model or could say why not. */
export type Report = Outcome | { doing: string } | { ready: true };
