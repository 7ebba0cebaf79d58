/** Words as ROUGE compares them: runs of small letters and digits, all else between them. */
export const rougeWords = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

/** Length of the longest sequence of words that both texts have in this order. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let before = new Uint32Array(b.length + 1);
  for (const word of a) {
    const now = new Uint32Array(b.length + 1);
    for (let j = 1; j <= b.length; j++)
      now[j] = word === b[j - 1] ? before[j - 1]! + 1 : Math.max(before[j]!, now[j - 1]!);
    before = now;
  }
  return before[b.length]!;
}

/** ROUGE-L (Lin): F1 of the longest common subsequence, with the reference that has most of it. */
export function rougeL(hypothesis: string, references: readonly string[]): number {
  const own = rougeWords(hypothesis);
  const scores = references.map((reference) => {
    const other = rougeWords(reference);
    // 2·P·R / (P + R) with P = common / own and R = common / other.
    return own.length + other.length === 0 ? 0 : (2 * commonLength(own, other)) / (own.length + other.length);
  });
  return Math.max(0, ...scores);
}
