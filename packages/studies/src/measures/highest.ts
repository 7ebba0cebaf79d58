/** Places of the highest scores, highest first; of equal ones the smaller tie number first. */
export function highest(scores: ArrayLike<number>, ties: ArrayLike<number>, most: number): number[] {
  const before = (a: number, b: number) => scores[b]! - scores[a]! || ties[a]! - ties[b]!;
  const best: number[] = [];
  for (let at = 0; at < scores.length; at++) {
    if (best.length === most && before(best[most - 1]!, at) <= 0) continue;
    let place = best.length;
    while (place > 0 && before(at, best[place - 1]!) < 0) place--;
    best.splice(place, 0, at);
    if (best.length > most) best.pop();
  }
  return best;
}
