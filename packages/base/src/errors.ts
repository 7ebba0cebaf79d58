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

/** What `body` gives; a fault that is not a `UserError` yet becomes one, with its reason in the message. */
export function asUserError<T>(body: () => T, message: (reason: string) => string): T {
  try {
    return body();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(message(reasonOf(cause)), { cause });
  }
}

/** The system's code of an error, or of what caused it; empty where neither has one. */
export function faultCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return '';
}
