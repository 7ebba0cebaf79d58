/** How LLaMA 3 cuts a text into words. */
export const LLAMA3_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Patterns of well-known tokenizers, known to take time in proportion to the text. */
const KNOWN: ReadonlySet<string> = new Set([
  // GPT-2
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  LLAMA3_PATTERN,
  // Qwen 2
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
]);

export const isKnownPattern = (pattern: string): boolean => KNOWN.has(pattern);

const LONGEST = 5000;

/** What keeps a regular expression from being run at all: a shape by which some texts take time without bound. */
export function patternFault(pattern: string): string | undefined {
  if (isKnownPattern(pattern)) return undefined;
  if (pattern.length > LONGEST) return `expected at most ${LONGEST} characters, got ${pattern.length}`;
  if (/\\[1-9]|\\[kg][<']|\(\?[(~]|\(\?&|\(\?P[=>]/.test(pattern))
    return 'it refers back to groups, which takes time without bound';
  return repeatsRepetition(pattern)
    ? 'it repeats a group that itself repeats, which takes time without bound'
    : undefined;
}

/** Whether a group with an unbounded repetition in it is repeated without bound, as in (a+)+. */
function repeatsRepetition(pattern: string): boolean {
  // For each open group: whether it holds an unbounded repetition.
  const open: boolean[] = [false];
  let closed: boolean | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    const quantifier = /^(?:[*+]|\{\d*,\})/.exec(pattern.slice(at, at + 20))?.[0];
    if (quantifier !== undefined) {
      if (closed) return true;
      open[open.length - 1] = true;
      at += quantifier.length - 1;
      // A lazy or possessive mark behind it is no repetition of its own.
      if (/[?+]/.test(pattern[at + 1] ?? '')) at++;
      closed = undefined;
      continue;
    }
    closed = undefined;
    if (letter === '\\') at += 1;
    else if (letter === '[') at = classEnd(pattern, at);
    else if (letter === '(') open.push(false);
    else if (letter === ')' && open.length > 1) {
      closed = open.pop()!;
      if (closed) open[open.length - 1] = true;
    }
  }
  return false;
}

/** Where a character class ends; classes may hold classes. */
function classEnd(pattern: string, start: number): number {
  let depth = 0;
  for (let at = start; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[') depth++;
    else if (pattern[at] === ']' && at > start + 1 && --depth === 0) return at;
  }
  return pattern.length;
}
