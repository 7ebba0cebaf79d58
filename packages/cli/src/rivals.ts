import type { Flags } from './analysis-verb.ts';
import type { EvalFlags } from './eval.ts';

/** What verbs do with runs of models that have latents in place of walks (`paper/src/rivals/verbs.ts`). */
export interface RivalVerbs {
  evaluate(directory: string, flags: EvalFlags, limit: number | undefined): Promise<void>;
  /** With options as the analyses of these names take them. */
  generate(directory: string, options: Readonly<Record<string, unknown>>, flags: Flags): Promise<void>;
  interpolate(directory: string, options: Readonly<Record<string, unknown>>, flags: Flags): Promise<void>;
}

/** The same for a run of such a model, with an error where the paper's experiments are not there; else nothing. */
export async function rivalVerbs(directory: string): Promise<RivalVerbs | undefined> {
  const { isRival, rivalNames } = await import('@hidden-schema/hsn/config/rivals');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { paperModule } = await import('@hidden-schema/base/paper-module');
  const { config } = Run.open(directory);
  if (!isRival(config)) return undefined;
  return paperModule<RivalVerbs>(
    'rivals/verbs.ts',
    `${directory} is a run of ${rivalNames[config.model]}, which`,
  );
}
