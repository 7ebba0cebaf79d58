const BYTES_A_UNIT = 4;
/** A step by a byte stays within the block of 256 units that its node is in. */
const BLOCK = 256;

const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);
const labelOf = (unit: number): number => unit & 0x800000ff;
const hasLeaf = (unit: number): boolean => ((unit >>> 8) & 1) === 1;
const placeOf = (unit: number): number => unit & 0x7fffffff;

/**
 * What is wrong with SentencePiece's table of replaced letters (a double-array trie, then the texts it points to).
 * The native library follows it without looking, so every node that can be reached is visited here first.
 */
export function charsmapFault(base64: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return 'expected base64';
  const bytes = Buffer.from(base64, 'base64');
  const size = bytes.length >= BYTES_A_UNIT ? bytes.readUInt32LE(0) : 0;
  if (size === 0 || size % (BYTES_A_UNIT * BLOCK) !== 0 || size + BYTES_A_UNIT > bytes.length)
    return 'expected a trie of whole blocks before its texts';
  const texts = bytes.subarray(BYTES_A_UNIT + size);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(texts);
  } catch {
    return 'expected texts of valid UTF-8';
  }
  const units = Uint32Array.from({ length: size / BYTES_A_UNIT }, (_, at) =>
    bytes.readUInt32LE(BYTES_A_UNIT * (at + 1)),
  );
  return walkFault(units, texts);
}

function walkFault(units: Uint32Array, texts: Buffer): string | undefined {
  const seen = new Uint8Array(units.length);
  const waiting = [0];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const unit = units[node]!;
    const base = (node ^ offsetOf(unit)) >>> 0;
    if (base >= units.length) return `a node leads to ${base}, beyond ${units.length} units`;
    if (node !== 0 && hasLeaf(unit) && !isText(texts, placeOf(units[base]!)))
      return `a text at ${placeOf(units[base]!)} of ${texts.length} bytes`;
    for (let byte = 1; byte < BLOCK; byte++) {
      const next = base ^ byte;
      if (labelOf(units[next]!) !== byte || seen[next]) continue;
      seen[next] = 1;
      waiting.push(next);
    }
  }
  return undefined;
}

/** Whether a text begins there: within the bytes, and not amid a letter. */
const isText = (texts: Buffer, at: number): boolean => at < texts.length && (texts[at]! & 0xc0) !== 0x80;
