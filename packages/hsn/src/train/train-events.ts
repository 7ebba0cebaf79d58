import type { StepMetrics } from './trainer.ts';

/** What a training does, in this order; which of them depends on the data and on where it ends. */
export type TrainStage = 'read' | 'encode' | 'discover' | 'train' | 'evaluate' | 'describe';

/** How far a stage is. One that has nothing to do sends no event. */
export interface StageEvent {
  readonly type: TrainStage;
  /** A stage begins and ends once; `going` comes in between, as often as something is done. */
  readonly state: 'begins' | 'going' | 'ends';
  /** What is done, in a word or two: of `discover` it depends on how symbols are found. */
  readonly label: string;
  /** What is counted. */
  readonly unit: string;
  readonly done: number;
  readonly total: number;
  /** Figures of this moment, such as how many symbols are used. */
  readonly figures?: Readonly<Record<string, number>>;
  /** Of a training step: all its terms. */
  readonly step?: StepMetrics;
  /** Why a stage ended before its total, where it did. */
  readonly reason?: string;
}

/** A look at the validation split, while training goes on. */
export interface ValidationEvent {
  readonly type: 'validation';
  readonly step: number;
  /** -L on the validation split: the lower, the better. */
  readonly objective: number;
  /** Whether it is the best so far. */
  readonly best: boolean;
  readonly figures: Readonly<Record<string, number>>;
}

/** Something to know, in words: of the corpus, of a file that was damaged, or an example of what the model writes. */
export interface NoteEvent {
  readonly type: 'note';
  readonly text: string;
}

/** Symbols and graph are saved in the run's folder: they can be looked at, while a decoder is trained. */
export interface DiscoveredEvent {
  readonly type: 'discovered';
  readonly directory: string;
  readonly seconds: number;
}

/** What a training on disk tells, in the order in which it happens. */
export type SessionEvent = StageEvent | ValidationEvent | NoteEvent | DiscoveredEvent;

/** A stage with what it counts: sends its events. */
export class Stage {
  readonly #of: Pick<StageEvent, 'type' | 'label' | 'unit' | 'total'>;
  readonly #send: (event: StageEvent) => unknown;
  #done = 0;

  constructor(
    of: Pick<StageEvent, 'type' | 'label' | 'unit' | 'total'>,
    send: (event: StageEvent) => unknown,
  ) {
    this.#of = of;
    this.#send = send;
  }

  begin(from = 0): void {
    this.#done = from;
    this.#event('begins', {});
  }

  going(done: number, more: Pick<StageEvent, 'figures' | 'step'> = {}): void {
    this.#done = done;
    this.#event('going', more);
  }

  end(reason?: string): void {
    this.#event('ends', reason === undefined ? {} : { reason });
  }

  #event(state: StageEvent['state'], more: Pick<StageEvent, 'figures' | 'step' | 'reason'>): void {
    this.#send({ ...this.#of, state, done: this.#done, ...more });
  }
}

/** A stage of which the total is known when its first part is done. */
export function counted(
  of: Pick<StageEvent, 'type' | 'label' | 'unit'>,
  send: (event: StageEvent) => unknown,
) {
  let stage: Stage | undefined;
  return {
    going: (done: number, total: number, figures?: StageEvent['figures']) => {
      if (!stage) {
        stage = new Stage({ ...of, total }, send);
        stage.begin();
      }
      stage.going(done, figures ? { figures } : {});
    },
    end: () => {
      stage?.end();
      stage = undefined;
    },
  };
}
