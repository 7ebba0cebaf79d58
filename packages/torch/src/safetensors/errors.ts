/** Which rule of the format, or of safe reading, a file broke. */
export type SafetensorsRule =
  | 'file'
  | 'pickle'
  | 'size'
  | 'header-length'
  | 'utf8'
  | 'json'
  | 'duplicate-key'
  | 'limit'
  | 'metadata'
  | 'dtype'
  | 'shape'
  | 'offsets'
  | 'byte-length'
  | 'index'
  | 'shard'
  | 'name'
  | 'closed'
  | 'write';

/** A weight file that cannot be read or written: the file, the rule, what was expected and what came. */
export class SafetensorsError extends Error {
  override name = 'SafetensorsError';
  readonly file: string;
  readonly rule: SafetensorsRule;
  readonly expected: string;
  readonly got: string;

  constructor(file: string, rule: SafetensorsRule, expected: string, got: string) {
    super(`${file}: expected ${expected}, got ${got}`);
    this.file = file;
    this.rule = rule;
    this.expected = expected;
    this.got = got;
  }
}

/** Throws with the file's name filled in; passed to whoever reads a part of the file. */
export type Fail = (rule: SafetensorsRule, expected: string, got: string) => never;

export function failFor(file: string): Fail {
  return (rule, expected, got) => {
    throw new SafetensorsError(file, rule, expected, got);
  };
}

/** Text from a file, shortened and with control characters escaped, so that it is safe to print. */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(short).replace(
    /[\u007f-\u009f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
