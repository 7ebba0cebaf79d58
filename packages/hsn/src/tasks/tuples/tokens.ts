import { UserError } from '@hidden-schema/base';
import { type Frame, type PaddedIds, padded } from '@hidden-schema/text/text-batches';
import { ownTokenizer, specialConfig, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { relationToken } from './relations.ts';
import type { TupleTable } from './tuples.ts';

interface AddedToken {
  id: number;
  content: string;
}

/** A tokenizer with a token for each relation behind its own; those it has already stay as they are. */
export function withRelations(tokenizer: Tokenizer, relations: readonly string[]): Tokenizer {
  const fresh = relations.map(relationToken).filter((token) => tokenizer.idOf(token) === undefined);
  if (fresh.length === 0) return tokenizer;
  const definition = JSON.parse(tokenizer.json) as { added_tokens?: AddedToken[] };
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const added = fresh.map((content, i) => ({ id: tokenizer.vocabulary + i, content, ...flags }));
  const json = JSON.stringify({
    ...definition,
    added_tokens: [...(definition.added_tokens ?? []), ...added],
  });
  const extended = ownTokenizer(json, specialConfig(tokenizer.special, tokenizer));
  for (const { id, content } of added)
    if (extended.idOf(content) !== id)
      throw new UserError(
        `this tokenizer numbers the added token ${content} ${extended.idOf(content)}, not ${id}`,
      );
  return extended;
}

/** Token numbers of parts of tuples, on one side. */
interface Side {
  heads: Int32Array[];
  objects: Int32Array[];
  relations: number[];
}

export interface TokenLimits {
  /** Tokens of (s, r, o) at most, special ones not counted. */
  longest: number;
}

/** What a cut costs: heads and objects longer than the models' positions. */
export interface CutReport {
  heads: number;
  objects: number;
}

/** Heads may take this share of the positions, so that an object always has room. */
const headShare = 0.75;

/** Tuples as token numbers: each head and object is tokenised once, and put together when asked for. */
export class TupleTokens {
  readonly table: TupleTable;
  readonly cut: CutReport;
  readonly #encoder: Side;
  readonly #decoder: Side;
  readonly #around: { begin: number[]; end: number[]; encoder: Frame; decoder: Frame };

  private constructor(
    table: TupleTable,
    sides: { encoder: Side; decoder: Side },
    around: { begin: number[]; end: number[]; encoder: Frame; decoder: Frame },
    cut: CutReport,
  ) {
    this.table = table;
    this.#encoder = sides.encoder;
    this.#decoder = sides.decoder;
    this.#around = around;
    this.cut = cut;
  }

  static async of(
    table: TupleTable,
    tokenizers: { encoder: Tokenizer; decoder: Tokenizer },
    frames: { encoder: Frame; decoder: Frame },
    limits: { encoder: TokenLimits; decoder: TokenLimits },
  ): Promise<TupleTokens> {
    const cut = { heads: 0, objects: 0 };
    const encoder = await sideOf(table, tokenizers.encoder, limits.encoder, cut);
    const decoder = await sideOf(table, tokenizers.decoder, limits.decoder, cut);
    const empty = (await tokenizers.encoder.encode('', { specials: true })).ids;
    const half = Math.ceil(empty.length / 2);
    const around = { begin: [...empty.slice(0, half)], end: [...empty.slice(half)], ...frames };
    return new TupleTokens(table, { encoder, decoder }, around, cut);
  }

  /** [CLS] s r [SEP] for the encoder. */
  prefix(rows: Int32Array): PaddedIds {
    return this.#framed(rows, (row) => this.#start(row, this.#encoder));
  }

  /** [CLS] s r o [SEP] for the encoder. */
  whole(rows: Int32Array): PaddedIds {
    return this.#framed(rows, (row) => [...this.#start(row, this.#encoder), ...this.#object(row)]);
  }

  /** [CLS] o [SEP] for the encoder. */
  objects(rows: Int32Array): PaddedIds {
    return this.#framed(rows, (row) => this.#object(row));
  }

  /** [CLS] s [SEP] for the encoder. */
  events(rows: Int32Array): PaddedIds {
    return this.#framed(rows, (row) => this.#encoder.heads[this.table.head[row]!]!);
  }

  /** [CLS] r [SEP] for the encoder. */
  relationsAlone(rows: Int32Array): PaddedIds {
    return this.#framed(rows, (row) => [this.#encoder.relations[this.table.relation[row]!]!]);
  }

  /** [CLS] … [SEP] around some tokens of each tuple, for the encoder. */
  #framed(rows: Int32Array, inner: (row: number) => Iterable<number>): PaddedIds {
    const { begin, end, encoder } = this.#around;
    const ids = Array.from(rows, (row) => Int32Array.from([...begin, ...inner(row), ...end]));
    return padded(ids, encoder);
  }

  #object(row: number): Iterable<number> {
    return this.#encoder.objects[this.table.object[row]!]!;
  }

  /** Start, s, r, o, end for the decoder, and how many tokens of each come before o. */
  decoder(rows: Int32Array): { ids: PaddedIds; prefixes: number[] } {
    const starts = Array.from(rows, (row) => this.#start(row, this.#decoder));
    const ids = starts.map((start, i) =>
      Int32Array.from([...start, ...this.#decoder.objects[this.table.object[rows[i]!]!]!]),
    );
    return { ids: padded(ids, this.#around.decoder), prefixes: starts.map((start) => start.length + 1) };
  }

  /** What the decoder is given to go on from: start, s, r. */
  prompt(row: number): number[] {
    return [this.#around.decoder.begin!, ...this.#start(row, this.#decoder)];
  }

  /** Length of a tuple on the decoder's side, by which batches are grouped. */
  length(row: number): number {
    const { heads, objects } = this.#decoder;
    return heads[this.table.head[row]!]!.length + objects[this.table.object[row]!]!.length;
  }

  #start(row: number, side: Side): number[] {
    return [...side.heads[this.table.head[row]!]!, side.relations[this.table.relation[row]!]!];
  }
}

async function sideOf(
  table: TupleTable,
  tokenizer: Tokenizer,
  { longest }: TokenLimits,
  cut: CutReport,
): Promise<Side> {
  const most = Math.max(1, Math.floor(longest * headShare));
  const heads = await encoded(table.heads, tokenizer, most);
  const objects = await encoded(table.objects, tokenizer, Math.max(1, longest - most - 1));
  cut.heads = Math.max(cut.heads, heads.cut);
  cut.objects = Math.max(cut.objects, objects.cut);
  const relations = table.relations.map((relation) => tokenizer.idOf(relationToken(relation))!);
  return { heads: heads.ids, objects: objects.ids, relations };
}

const atOnce = 1000;

async function encoded(texts: readonly string[], tokenizer: Tokenizer, longest: number) {
  const ids: Int32Array[] = [];
  let cut = 0;
  for (let first = 0; first < texts.length; first += atOnce) {
    const some = texts.slice(first, first + atOnce);
    for (const { ids: own, lost } of await tokenizer.encodeBatch(some, {
      specials: false,
      literal: true,
      longest,
    })) {
      ids.push(own);
      if (lost > 0) cut++;
    }
  }
  return { ids, cut };
}
