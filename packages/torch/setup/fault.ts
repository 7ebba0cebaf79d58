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

/** How set-up speaks: whole lines, and one line that lives while something takes long. */
export interface Progress {
  say(line: string): void;
  /** Runs `task`, showing `label`, what it last reported and the seconds gone by. */
  during<T>(label: string, task: (detail: (text: string) => void) => Promise<T>): Promise<T>;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** On a terminal one line is rewritten each second; elsewhere a line is added each `quietSeconds`. */
export function showProgress(out: Output, quietSeconds = 15): Progress {
  const live = out.isTTY === true;
  const say = (line: string): void => void out.write(`${line}\n`);
  const during = async <T>(
    label: string,
    task: (detail: (text: string) => void) => Promise<T>,
  ): Promise<T> => {
    const start = performance.now();
    let last = '';
    const line = (): string => {
      const seconds = Math.round((performance.now() - start) / 1000);
      return `${label} · ${seconds} s${last === '' ? '' : ` · ${last}`}`;
    };
    const redraw = (): void => {
      if (live) out.write(`\r\x1b[K${line().slice(0, Math.max(20, (out.columns ?? 80) - 1))}`);
      else say(line());
    };
    if (live) redraw();
    else say(`${label} …`);
    const timer = setInterval(redraw, live ? 1000 : quietSeconds * 1000);
    try {
      return await task((text) => {
        last = text;
      });
    } finally {
      clearInterval(timer);
      if (live) out.write('\r\x1b[K');
    }
  };
  return { say, during };
}
