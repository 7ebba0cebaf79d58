import { isUtf8 } from 'node:buffer';

/** Start of the first sequence that does not decode: where decoding and encoding again first differ. */
export function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  let at = 0;
  while (at < bytes.length && bytes[at] === again[at]) at++;
  // The replacement character's own bytes may agree with the first bytes of a cut sequence.
  while (at > 0 && !isUtf8(bytes.subarray(0, at))) at--;
  return at;
}

/** Without the first bytes of a character whose other bytes were cut off. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}
