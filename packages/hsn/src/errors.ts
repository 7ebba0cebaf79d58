/** A mistake in what the user gave: shown as one line, without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
}
