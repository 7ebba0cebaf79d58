import { FRESH } from './checkpoint-key.ts';

interface Source<Shown> {
  /** Says which version there is now. */
  key(): string;
  open(): Promise<Shown>;
  close(shown: Shown): void;
}

/** What is shown of a run: opened anew when training has written a better checkpoint. */
export class Reloading<Shown> {
  readonly #source: Source<Shown>;
  #open: { key: string; shown: Shown } | undefined;
  #checked = Number.NEGATIVE_INFINITY;

  constructor(source: Source<Shown>) {
    this.#source = source;
  }

  /** Whatever changes the run says so here: it is looked at again at once. */
  changed(): void {
    this.#checked = Number.NEGATIVE_INFINITY;
  }

  async current(): Promise<Shown> {
    const now = performance.now();
    if (this.#open && now - this.#checked < FRESH) return this.#open.shown;
    this.#checked = now;
    const key = this.#source.key();
    const before = this.#open;
    if (before?.key === key) return before.shown;
    try {
      this.#open = { key, shown: await this.#source.open() };
    } catch (error) {
      // Training may remove a checkpoint while it is read; the next look finds a newer one.
      if (before) return before.shown;
      throw error;
    }
    if (before) this.#source.close(before.shown);
    return this.#open.shown;
  }
}
