/** Share of different words among all topics' first words (Dieng, Ruiz & Blei 2020); 1 is all different, null no words. */
export function topicDiversity(
  topics: readonly (readonly string[])[],
  { words: most = 10 }: { words?: number } = {},
): number | null {
  const all = topics.flatMap((topic) => topic.slice(0, most));
  return all.length === 0 ? null : new Set(all).size / all.length;
}
