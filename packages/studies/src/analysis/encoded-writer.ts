import fs from 'node:fs';
import { hashFile, type JsonValue, jsonText, partialName, writeAll } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import { ENCODED_FORMAT, type EncodedManifest, type StoredSentence } from './encoded-layout.ts';
import type { ReadSentence } from './run-corpus.ts';

type Facts = Pick<EncodedManifest, 'created' | 'step' | 'symbols' | 'length' | 'total'>;

/** Bytes of a growing table, in pieces. */
class Pieces {
  readonly #pieces: Uint8Array[] = [];
  add(values: Float64Array | Uint16Array | Int16Array): void {
    this.#pieces.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  joined(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** Writes `analysis/encoded.*` beside their names, and moves them there when all is written. */
export class EncodedWriter {
  count = 0;
  readonly #run: OpenedRun['run'];
  readonly #labels: readonly string[];
  readonly #lines: number;
  #bytes = 0;
  readonly #offsets = new Pieces();
  readonly #walks = new Pieces();
  readonly #labelOf = new Pieces();

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
        text,
        label: this.#labels[label] ?? null,
        split,
        walk,
        steps: probabilities.map(short),
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
    this.#offsets.add(Float64Array.from(offsets));
    this.#walks.add(Uint16Array.from(batch.flatMap(({ walk }) => walk)));
    this.#labelOf.add(Int16Array.from(batch, ({ label }) => label));
    this.count += batch.length;
  }

  finish(facts: Facts): void {
    this.#offsets.add(Float64Array.of(this.#bytes));
    const table = [this.#offsets, this.#walks, this.#labelOf].map((pieces) => pieces.joined());
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
