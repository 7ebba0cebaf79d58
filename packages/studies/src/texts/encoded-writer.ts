import fs from 'node:fs';
import { type FileSum, hashFile, type JsonValue, jsonText, partialName, writeAll } from '@hidden-schema/base';
import type { OpenedRun, SplitName } from '@hidden-schema/hsn';
import type { ReadSentence } from './run-corpus.ts';

/** Stores what can be made again, and alike: a run that may only be read goes without. */
export function storeIfWritable(run: OpenedRun['run'], file: string, value: JsonValue): void {
  try {
    run.store(file, value);
  } catch {
    // Made anew the next time.
  }
}

/** Layout of `analysis/encoded.*`; a later one gets another number. */
export const ENCODED_FORMAT = 1;

/** `encoded.json`: what the other two files hold, written last. */
export interface EncodedManifest {
  format: number;
  /** The run's identity, so that one made anew or edited is not taken for the old. */
  created: string;
  step: number;
  symbols: number;
  length: number;
  /** Sentences here, and in the corpus. */
  count: number;
  total: number;
  labels: readonly string[];
  /** Sums of the other two, so that parts of two readings are never taken for one; none before 0.3. */
  files?: Readonly<Record<'jsonl' | 'bin', FileSum>>;
}

/** A line of `encoded.jsonl`. */
export interface StoredSentence {
  text: string;
  label: string | null;
  split: SplitName;
  walk: number[];
  steps: number[];
  /** How much of the text each step tells, where the model says. */
  weights?: number[];
}

/** Places in `encoded.bin`: where each line begins (and the last ends), the walks, the labels. */
export function layoutOf(count: number, length: number) {
  const offsets = 0;
  const walks = 8 * (count + 1);
  const labels = walks + 2 * count * length;
  return { offsets, walks, labels, bytes: labels + 2 * count };
}

/** A copy of its own, since a typed array begins at a multiple of its size. */
export function bytesAt(table: Buffer, start: number, size: number): ArrayBuffer {
  return Uint8Array.from(table.subarray(start, start + size)).buffer;
}

type Facts = Pick<EncodedManifest, 'created' | 'step' | 'symbols' | 'length' | 'total'>;

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array | Int16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Writes `analysis/encoded.*` beside their names, and moves them there when all is written. */
export class EncodedWriter {
  count = 0;
  readonly #run: OpenedRun['run'];
  readonly #labels: readonly string[];
  readonly #lines: number;
  #bytes = 0;
  readonly #offsets: Uint8Array[] = [];
  readonly #walks: Uint8Array[] = [];
  readonly #labelOf: Uint8Array[] = [];

  constructor(run: OpenedRun['run'], labels: readonly string[]) {
    this.#run = run;
    this.#labels = labels;
    fs.mkdirSync(run.files.target('analysis'), { recursive: true });
    this.#remove();
    this.#lines = fs.openSync(this.#partial('jsonl'), 'wx');
  }

  write(batch: readonly ReadSentence[]): void {
    const short = (value: number) => Number(value.toPrecision(6));
    const lines = batch.map(({ text, label, split, walk, probabilities, weights }) => {
      const stored: StoredSentence = {
        ...{ text, label: this.#labels[label] ?? null, split, walk, steps: probabilities.map(short) },
        ...(weights ? { weights: weights.map(short) } : {}),
      };
      return `${JSON.stringify(stored)}\n`;
    });
    const offsets = lines.map((line) => {
      const start = this.#bytes;
      this.#bytes += Buffer.byteLength(line);
      return start;
    });
    writeAll(this.#lines, lines.join(''));
    this.#offsets.push(bytesOf(Float64Array.from(offsets)));
    this.#walks.push(bytesOf(Uint16Array.from(batch.flatMap(({ walk }) => walk))));
    this.#labelOf.push(bytesOf(Int16Array.from(batch, ({ label }) => label)));
    this.count += batch.length;
  }

  finish(facts: Facts): void {
    const table = [...this.#offsets, bytesOf(Float64Array.of(this.#bytes)), ...this.#walks, ...this.#labelOf];
    fs.fsyncSync(this.#lines);
    fs.closeSync(this.#lines);
    fs.writeFileSync(this.#partial('bin'), Buffer.concat(table), { flag: 'wx', flush: true });
    const [jsonl, bin] = [this.#partial('jsonl'), this.#partial('bin')];
    const manifest: EncodedManifest = {
      ...{ format: ENCODED_FORMAT, ...facts, count: this.count, labels: this.#labels },
      files: { jsonl: hashFile(jsonl), bin: hashFile(bin) },
    };
    this.#run.files.store(
      {
        'analysis/encoded.jsonl': { partial: jsonl },
        'analysis/encoded.bin': { partial: bin },
        'analysis/encoded.json': jsonText({ ...manifest } as unknown as JsonValue),
      },
      () => this.#run.checkUnchanged(),
    );
  }

  abandon(): void {
    try {
      fs.closeSync(this.#lines);
    } catch {
      // It was closed by `finish` already.
    }
    this.#remove();
  }

  #remove(): void {
    for (const ending of ['jsonl', 'bin']) fs.rmSync(this.#partial(ending), { force: true });
  }

  #partial(ending: string): string {
    return partialName(this.#run.path('analysis', `encoded.${ending}`));
  }
}
