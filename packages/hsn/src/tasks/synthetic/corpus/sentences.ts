import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { eachField, readLines } from '@hidden-schema/text/field-lines';

/** Rows of equal length from a text file, with the line each came from. */
export interface Rows {
  name: string;
  count: number;
  length: number;
  values: Int32Array;
  lines: Int32Array;
  blank: number;
  sha256: string;
}

/** An Int32Array that grows by doubling. */
class Growing {
  #data = new Int32Array(1 << 12);
  length = 0;

  push(value: number): void {
    if (this.length === this.#data.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data[this.length++] = value;
  }

  done(): Int32Array {
    return this.#data.slice(0, this.length);
  }
}

/** Reads rows whose fields `number` turns into integers; every row must have `length` of them, if that is known. */
export function readRows(
  file: string,
  length: number | undefined,
  number: (field: string, name: string, line: number) => number,
): Rows {
  const name = path.basename(file);
  const values = new Growing();
  const lines = new Growing();
  const lengths = new Map<number, { count: number; line: number }>();
  const { blank, sha256 } = readLines(file, (text, line) => {
    const size = eachField(text, (field) => values.push(number(field, name, line)));
    lines.push(line);
    const known = lengths.get(size);
    if (known) known.count++;
    else lengths.set(size, { count: 1, line });
  });
  const common = length ?? mostCommon(lengths);
  checkLengths(name, lengths, common, length !== undefined);
  return {
    name,
    count: lines.length,
    length: common,
    values: values.done(),
    lines: lines.done(),
    blank,
    sha256,
  };
}

function mostCommon(lengths: Map<number, { count: number }>): number {
  let best = 0;
  for (const [size, { count }] of lengths) if (count > (lengths.get(best)?.count ?? 0)) best = size;
  return best;
}

function checkLengths(
  name: string,
  lengths: Map<number, { count: number; line: number }>,
  expected: number,
  asInTraining: boolean,
): void {
  const odd = [...lengths].filter(([size]) => size !== expected).sort((a, b) => a[1].line - b[1].line);
  if (odd.length === 0) return;
  const [size, { line }] = odd[0]!;
  const others = odd.reduce((sum, [, { count }]) => sum + count, 0) - 1;
  const source = asInTraining ? 'the sentences of train.txt have' : 'most sentences have';
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'line differs' : 'lines differ'})`;
  throw new UserError(
    `${name}:${line} has ${size} tokens where ${source} ${expected}${more}; all sentences of a synthetic corpus must be equally long`,
  );
}

/** Token numbers: a closed vocabulary counts what it does not know, an open one grows. */
export class TokenNumbers {
  readonly vocabulary: string[];
  readonly #numbers: Map<string, number>;
  readonly #open: boolean;
  #unknown: { token: string; where: string; count: number } | undefined;

  constructor(known?: string[]) {
    this.vocabulary = [...(known ?? [])];
    this.#numbers = new Map(this.vocabulary.map((token, number) => [token, number]));
    this.#open = known === undefined;
  }

  number(token: string, name: string, line: number): number {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    if (this.#open) {
      this.#numbers.set(token, this.vocabulary.length);
      return this.vocabulary.push(token) - 1;
    }
    this.#unknown ??= { token, where: `${name}:${line}`, count: 0 };
    this.#unknown.count++;
    return -1;
  }

  /** Throws if a token outside the closed vocabulary was met. */
  check(): void {
    if (!this.#unknown) return;
    const { token, where, count } = this.#unknown;
    const times = count === 1 ? 'the only one' : `the first of ${count} such tokens`;
    throw new UserError(
      `the token "${token}" at ${where} is in no bag of node_tokens.tsv (${times}); add it to a bag or remove the sentence`,
    );
  }
}

/** A walk's node as written; range is checked later, where the number of nodes is known. */
export function nodeNumber(field: string, name: string, line: number): number {
  const node = Number(field);
  if (/^\d+$/.test(field) && node < 2 ** 31) return node;
  throw new UserError(`${name}:${line} has the node "${field}"; expected whole numbers from 0`);
}
