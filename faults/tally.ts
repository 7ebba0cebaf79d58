import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A long row says how far it is this often. */
const PROGRESS_MS = 10_000;

/** One row of the fault table: what is injected, and how it is seen that it was survived. */
export interface Fault {
  readonly row: number;
  readonly fault: string;
  inject(tally: Tally): Promise<void>;
}

/** A group of rows: a module of this folder. */
export interface FaultGroup {
  readonly faults: readonly Fault[];
}

/** What is printed for a row. */
export interface FaultLine {
  readonly row: number;
  readonly fault: string;
  readonly injected: number;
  readonly survived: number;
  /** What could not be injected here, or what was measured on the way. */
  readonly notes?: readonly string[];
  readonly seconds: number;
}

/** Counts the faults of one row; each gets a name, so that one that was not survived can be told. */
export class Tally {
  injected = 0;
  survived = 0;
  readonly notes: string[] = [];
  /** A folder of its own, removed at the end. */
  readonly folder: string;
  /** Part of the full counts, above 0 up to 1. */
  readonly share: number;
  readonly #say: (line: string) => void;
  #spoke = performance.now();

  constructor(folder: string, share: number, say: (line: string) => void) {
    this.folder = folder;
    this.share = share;
    this.#say = say;
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** The part of a full count that is asked for. */
  count(full: number, least = 1): number {
    return Math.max(least, Math.round(full * this.share));
  }

  /** One fault: survived if `body` throws nothing. */
  async expect(what: string, body: () => unknown): Promise<void> {
    this.injected++;
    try {
      await body();
      this.survived++;
    } catch (error) {
      this.#say(`not survived: ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (performance.now() - this.#spoke < PROGRESS_MS) return;
    this.#spoke = performance.now();
    this.#say(`${this.survived} of ${this.injected} survived so far`);
  }
}

/** Runs one row in a folder of its own. */
export async function runFault(fault: Fault, share: number, say: (line: string) => void): Promise<FaultLine> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `hsn-fault-${fault.row}-`));
  const tally = new Tally(folder, share, (line) => say(`row ${fault.row}: ${line}`));
  const began = performance.now();
  try {
    await fault.inject(tally);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  const { injected, survived, notes } = tally;
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const line = { row: fault.row, fault: fault.fault, injected, survived };
  return { ...line, ...(notes.length > 0 ? { notes } : {}), seconds };
}

/** The one-line message that `body` is refused with. */
export async function refusal(body: () => unknown): Promise<string> {
  let value: unknown;
  try {
    value = await body();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!['UserError', 'SafetensorsError', 'TorchError'].includes(error.name))
      throw new Error(`expected an error for users, got ${error.name}: ${error.message}`);
    return error.message;
  }
  throw new Error(`expected a refusal, got ${JSON.stringify(value)?.slice(0, 100)}`);
}
