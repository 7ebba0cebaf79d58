/** What a baseline says of a graph: a score for each pair, and which pairs it calls links. Row-major [K, K], symmetric. */
export interface LinkScores {
  readonly scores: Float64Array;
  readonly links: Uint8Array;
}

/** Symmetric scores from directed expected traversals; a pair is a link from `threshold` on. */
export function linksFromTraversals(
  traversals: ArrayLike<number>,
  nodes: number,
  threshold: number,
): LinkScores {
  const scores = new Float64Array(nodes * nodes);
  const links = new Uint8Array(nodes * nodes);
  for (let i = 0; i < nodes; i++) {
    for (let j = 0; j < nodes; j++) {
      if (i === j) continue;
      const both = traversals[i * nodes + j]! + traversals[j * nodes + i]!;
      scores[i * nodes + j] = both;
      links[i * nodes + j] = both >= threshold ? 1 : 0;
    }
  }
  return { scores, links };
}
