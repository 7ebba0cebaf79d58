/**
 * A mistake in what the user gave: shown as one line, without a stack trace.
 *
 * @example
 * try {
 *   await open('no-such-run');
 * } catch (error) {
 *   if (!(error instanceof UserError)) throw error;
 *   console.error(error.message);
 * }
 */
export class UserError extends Error {
  override name = 'UserError';
}

/** The one-line reason of an error. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message.split('\n')[0]! : String(error);
