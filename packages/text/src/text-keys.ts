import { createHash } from 'node:crypto';

/** 64 bits of a text's sha256: equal texts are told by it, and drawn to one split. */
export function textHash(text: string): Uint32Array {
  const digest = createHash('sha256').update(text).digest();
  return Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4));
}

/** The same as one number, by which rows are joined: equal texts have equal keys. */
export const textKey = (hash: Uint32Array): bigint => (BigInt(hash[1]!) << 32n) | BigInt(hash[0]!);
