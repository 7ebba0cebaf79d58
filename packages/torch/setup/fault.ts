/** Something the machine lacks: what was expected, what was found, what to do about it. */
export class SetupError extends Error {
  override name = 'SetupError';
  readonly expected: string;
  readonly found: string;
  readonly remedies: readonly string[];

  constructor(title: string, expected: string, found: string, remedies: string | readonly string[]) {
    super(title);
    this.expected = expected;
    this.found = found;
    this.remedies = typeof remedies === 'string' ? [remedies] : remedies;
  }

  /** The message as people see it; every further remedy is an alternative to the first. */
  explain(): string {
    const doing = this.remedies.map((remedy, at) => `  ${at === 0 ? 'do      ' : '   or   '}  ${remedy}`);
    const lines = [`  expected  ${this.expected}`, `  found     ${this.found}`, ...doing];
    return [`hsn setup: ${this.message}`, ...lines].join('\n');
  }
}

/** What every remedy ends with: the command that takes up the set-up again. */
export const again = 'then run npx hsn setup';
