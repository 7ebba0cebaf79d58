import { writeJsonAtomic } from '@hidden-schema/hsn';
import fs from 'node:fs';
import path from 'node:path';
// Not among the library's exports; a name must not be lost when the machine stops half-way.
import { Fault } from './fault.ts';

const FORMAT = 1;

/** Names that people gave to symbols: `names.json` of a run, read anew each time since others may write it too. */
export class Names {
  readonly #file: string;

  constructor(run: string) {
    this.#file = path.join(run, 'names.json');
  }

  /** All names; none where the file is damaged, which only a renaming complains about. */
  all(): ReadonlyMap<number, string> {
    return this.#read() ?? new Map();
  }

  /** Stores a name, or with an empty one takes it away; returns what holds now. */
  set(symbol: number, name: string): string | null {
    const names = this.#read();
    if (!names) throw new Fault(409, 'damaged', `${this.#file} is damaged; repair or remove it, then rename`);
    if (name === '') names.delete(symbol);
    else names.set(symbol, name);
    const sorted = [...names].sort(([a], [b]) => a - b);
    writeJsonAtomic(this.#file, { format: FORMAT, names: Object.fromEntries(sorted) });
    return name === '' ? null : name;
  }

  #read(): Map<number, string> | undefined {
    let text: string;
    try {
      text = fs.readFileSync(this.#file, 'utf8');
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Map() : undefined;
    }
    try {
      const { names } = JSON.parse(text) as { names: Record<string, unknown> };
      const pairs = Object.entries(names).filter(([, name]) => typeof name === 'string');
      return new Map(pairs.map(([symbol, name]) => [Number(symbol), String(name)]));
    } catch {
      return undefined;
    }
  }
}
