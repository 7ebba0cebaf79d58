/** How rates fall where validation stalls. */
export interface PlateauSettings {
  factor: number;
  patience: number;
  least: number;
}

/** Part of a checkpoint. */
export interface PlateauState {
  best: number | null;
  since: number;
  factor: number;
}

/** Rates that fall by a factor after more than `patience` evaluations in a row without a better objective. */
export class Plateau {
  readonly #settings: PlateauSettings;
  #state: PlateauState = { best: null, since: 0, factor: 1 };

  constructor(settings: PlateauSettings = { factor: 1, patience: 0, least: 0 }) {
    this.#settings = settings;
  }

  /** What rates are multiplied by now. */
  get factor(): number {
    return this.#state.factor;
  }
  get state(): PlateauState {
    return this.#state;
  }
  set state(state: PlateauState) {
    this.#state = state;
  }

  /** Takes in a validation objective; tells whether rates fall. */
  validated(objective: number): boolean {
    const { best, since, factor } = this.#state;
    if (best === null || objective < best) {
      this.#state = { best: objective, since: 0, factor };
      return false;
    }
    const falls = since >= this.#settings.patience;
    this.#state = falls
      ? { best, since: 0, factor: factor * this.#settings.factor }
      : { best, since: since + 1, factor };
    return falls;
  }
}
