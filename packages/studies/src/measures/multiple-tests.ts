/** p-values corrected for how many there are, so that their bound is a share of false findings (Benjamini & Hochberg 1995). */
export function benjaminiHochberg(values: ArrayLike<number>): Float64Array {
  const order = Array.from({ length: values.length }, (_, at) => at).sort((a, b) => values[b]! - values[a]!);
  const corrected = new Float64Array(values.length);
  let least = 1;
  for (const [place, at] of order.entries()) {
    least = Math.min(least, (values[at]! * values.length) / (values.length - place));
    corrected[at] = least;
  }
  return corrected;
}
