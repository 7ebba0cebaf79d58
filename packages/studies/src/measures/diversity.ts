/** Distinct n-grams among all of some texts' (Li et al.): 1 where nothing is said twice. */
export function distinctN(texts: readonly (readonly string[])[], n: number): number {
  const seen = new Set<string>();
  let total = 0;
  for (const words of texts)
    for (let i = 0; i + n <= words.length; i++) {
      seen.add(words.slice(i, i + n).join('\0'));
      total++;
    }
  return total === 0 ? 0 : seen.size / total;
}

/** Share of what was generated that is not among what was trained on. */
export function novelty(generated: readonly string[], known: ReadonlySet<string>): number {
  if (generated.length === 0) return 0;
  return generated.filter((text) => !known.has(text)).length / generated.length;
}
