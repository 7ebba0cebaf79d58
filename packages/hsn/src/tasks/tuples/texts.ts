import { UserError } from '@hidden-schema/base';
import type { BestWalk } from '../../walk/best.ts';
import { type OpenedReasoning, tokenise } from './open.ts';
import { TupleTable } from './tuples.ts';
import { TupleWalks } from './walks.ts';

/** Reads tuples that are written as event, relation and object with tabs between. */
export class TupleTexts {
  readonly #opened: OpenedReasoning;

  constructor(opened: OpenedReasoning) {
    this.#opened = opened;
  }

  /** The most probable walk of each tuple. */
  async read(texts: readonly string[]): Promise<{ walks: BestWalk[]; cut: number }> {
    const { model, relations, config } = this.#opened;
    if (config.baseline) throw new UserError('COMET has no symbols, so it reads no walks');
    const table = new TupleTable();
    for (const text of texts) table.add(tupleOf(text, relations));
    const tokens = await tokenise(this.#opened, table);
    const walks = new TupleWalks(model, tokens);
    try {
      const rows = Int32Array.from(texts.keys());
      return { walks: walks.best(rows), cut: tokens.cut.heads + tokens.cut.objects };
    } finally {
      walks.free();
    }
  }
}

function tupleOf(text: string, relations: readonly string[]) {
  const [head, relation, object, ...more] = text.split('\t').map((part) => part.trim());
  if (!head || !relation || !object || more.length > 0)
    throw new UserError(
      `expected event<TAB>relation<TAB>object, got ${JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)}`,
    );
  if (!relations.includes(relation))
    throw new UserError(
      `unknown relation ${JSON.stringify(relation)}: this run knows ${relations.join(', ')}`,
    );
  return { head, relation, object };
}
