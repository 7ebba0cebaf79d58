import type { BestWalk, OpenedModel } from '@hidden-schema/hsn';
import type { WalkReader } from './encode.ts';
import { say } from './terminal.ts';

const atOnce = 256;

/** Reads sentences of a synthetic language: tokens with spaces between, as many as a walk has steps. */
export async function syntheticReader(directory: string, checkpoint: string): Promise<WalkReader> {
  const hsn = await import('@hidden-schema/hsn');
  const base = await import('@hidden-schema/base');
  const { Tensor, noGrad, scope } = await import('@hidden-schema/torch');
  const opened = hsn.openModel(directory, { checkpoint });
  const { model, corpus, notes } = opened;
  for (const note of notes) say(`${note}\n`);
  const numbers = new Map(corpus.vocabulary.map((token, number) => [token, number]));
  model.train(false);
  const chunk = (texts: readonly string[]): BestWalk[] =>
    scope(() =>
      noGrad(() => {
        const ids = texts.flatMap((text) => tokenNumbers(text, numbers, opened, base.UserError));
        const tokens = Tensor.fromArray(Int32Array.from(ids), [texts.length, corpus.length]);
        return model.encode({ tokens }).best();
      }),
    );
  return {
    read: async (texts) => {
      const walks: BestWalk[] = [];
      for (let first = 0; first < texts.length; first += atOnce)
        walks.push(...chunk(texts.slice(first, first + atOnce)));
      return { walks, cut: 0 };
    },
  };
}

function tokenNumbers(
  text: string,
  numbers: ReadonlyMap<string, number>,
  { corpus }: OpenedModel,
  Fault: new (message: string) => Error,
): number[] {
  const tokens = text.trim().split(/\s+/);
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
  if (tokens.length !== corpus.length)
    throw new Fault(`${shown} has ${tokens.length} tokens; sentences of this language have ${corpus.length}`);
  return tokens.map((token) => {
    const number = numbers.get(token);
    if (number === undefined)
      throw new Fault(`${shown}: ${JSON.stringify(token.slice(0, 40))} is no token of this language`);
    return number;
  });
}
