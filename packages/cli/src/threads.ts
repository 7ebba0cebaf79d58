/** Sets the threads that `--threads` asks for; without it, all cores are used. */
export async function useThreads(asked: string | undefined): Promise<void> {
  if (asked === undefined) return;
  const { UserError } = await import('@hidden-schema/base');
  const count = Number(asked);
  if (!Number.isInteger(count) || count < 1)
    throw new UserError(`--threads takes a whole number from 1, got ${asked}`);
  const { setThreads } = await import('@hidden-schema/torch');
  setThreads(count);
}
