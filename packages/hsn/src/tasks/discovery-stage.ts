import { fitStages } from '../discovery/fit.ts';
import type { Preparation, PreparationState, PreparationWatch } from '../train/task.ts';

/** Finding symbols and graph before the first step. What is stopped on the way begins again. */
export abstract class DiscoveryStage implements Preparation {
  readonly label = 'discover';
  readonly unit = 'stages';
  readonly most = fitStages.length;
  #done = 0;

  get wanted(): boolean {
    return this.#done < this.most;
  }
  get state(): PreparationState {
    return { count: this.#done };
  }
  set state({ count }: PreparationState) {
    this.#done = count;
  }

  protected finish(): void {
    this.#done = this.most;
  }

  abstract advance(watch: PreparationWatch): Promise<Record<string, number>>;
}
