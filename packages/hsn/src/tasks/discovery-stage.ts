import { discoveryDefaults } from '../discovery/options.ts';
import type { Preparation, PreparationState, PreparationWatch } from '../train/task.ts';

/** Finding symbols and graph before the first step. All sweeps are one part: what is stopped on the way begins again. */
export abstract class DiscoveryStage implements Preparation {
  readonly label = 'discover';
  readonly unit = 'sweeps';
  readonly most: number;
  #done = 0;

  /** `length`: steps of the walks that are fitted; those of one step know no links. */
  constructor(length: number) {
    const { freeSweeps, linkedSweeps } = discoveryDefaults;
    this.most = freeSweeps + (length > 1 ? linkedSweeps : 0);
  }

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
