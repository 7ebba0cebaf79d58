/** One of `count` parts of a stream of sentences: every `count`-th, from the `index`-th on (from 0). */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** What `--shard 2/8` names; the whole without it. */
export async function shardOf(text: string | undefined): Promise<Shard> {
  if (text === undefined) return { index: 0, count: 1 };
  const { UserError } = await import('@hidden-schema/base');
  const [index, count] = (/^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? []).slice(1).map(Number);
  if (index === undefined || count === undefined || index < 1 || index > count)
    throw new UserError(`--shard takes a part of how many, from 1/2 to 2/2 for two; got ${text}`);
  return { index: index - 1, count };
}

/** The shard's sentences of a stream that comes in batches. */
export async function* shardSentences(
  batches: AsyncIterable<string[]>,
  { index, count }: Shard,
): AsyncGenerator<string[]> {
  let before = 0;
  for await (const batch of batches) {
    const own = count === 1 ? batch : batch.filter((_, i) => (before + i) % count === index);
    before += batch.length;
    if (own.length > 0) yield own;
  }
}
