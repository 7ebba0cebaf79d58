/** Index of every code point in UTF-16 units, the end included; nothing where the two agree. */
function unitsOf(text: string): Int32Array | undefined {
  if (!/[\uD800-\uDBFF]/.test(text)) return undefined;
  const units = new Int32Array(text.length + 1);
  let points = 0;
  let at = 0;
  for (const character of text) {
    units[points++] = at;
    at += character.length;
  }
  units[points] = at;
  return units;
}

/** Ranges in code points, as Rust counts, to ranges in UTF-16 units, as JavaScript slices; flat pairs. */
export function utf16Offsets(text: string, ranges: readonly (readonly number[])[]): Int32Array {
  const units = unitsOf(text);
  const flat = new Int32Array(2 * ranges.length);
  for (const [i, [start = 0, end = 0]] of ranges.entries()) {
    flat[2 * i] = units ? units[start]! : start;
    flat[2 * i + 1] = units ? units[end]! : end;
  }
  return flat;
}
