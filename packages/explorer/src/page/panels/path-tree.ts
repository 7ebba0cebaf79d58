/** Steps that some walks take together, and how they part after them. */
export interface Branch {
  /** The steps of this branch; those before it are its parents'. */
  steps: readonly number[];
  /** All steps up to its end. */
  prefix: readonly number[];
  /** Which of the walks go this way. */
  walks: readonly number[];
  branches: readonly Branch[];
}

/** Walks with their common beginnings merged; branches come in the order of their first walks. */
export function pathTree(walks: readonly (readonly number[])[]): Branch[] {
  return branchesAt(walks, [...walks.keys()], 0);
}

function branchesAt(
  walks: readonly (readonly number[])[],
  among: readonly number[],
  depth: number,
): Branch[] {
  const going = among.filter((at) => walks[at]!.length > depth);
  const nexts = [...new Set(going.map((at) => walks[at]![depth]!))];
  return nexts.map((symbol) => {
    const own = going.filter((at) => walks[at]![depth] === symbol);
    let end = depth + 1;
    while (together(walks, own, end)) end++;
    const prefix = walks[own[0]!]!.slice(0, end);
    const branches = branchesAt(walks, own, end);
    return { steps: prefix.slice(depth), prefix, walks: own, branches };
  });
}

/** Whether walks go on, and all with the same step. */
function together(walks: readonly (readonly number[])[], among: readonly number[], at: number): boolean {
  const symbol = walks[among[0]!]![at];
  return symbol !== undefined && among.every((one) => walks[one]![at] === symbol);
}
