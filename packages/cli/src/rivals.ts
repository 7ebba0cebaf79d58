import type { InterpolationOptions } from '@hidden-schema/studies';
import type { EvalFlags } from './eval.ts';
import type { GenerateFlags } from './generate.ts';
import type { InterpolateFlags } from './interpolate.ts';

/** What verbs do with runs of models that have latents in place of walks (`paper/src/rivals/verbs.ts`). */
export interface RivalVerbs {
  evaluate(directory: string, flags: EvalFlags, limit: number | undefined): Promise<void>;
  generate(directory: string, flags: GenerateFlags): Promise<void>;
  interpolate(
    directory: string,
    ends: readonly [string, string],
    options: InterpolationOptions,
    flags: InterpolateFlags,
  ): Promise<void>;
}

/** The same for one run, for an error that names it where the paper's experiments are not there. */
export async function rivalVerbs(directory: string): Promise<RivalVerbs> {
  const { isRival, rivalNames } = await import('@hidden-schema/hsn/config/rivals');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { paperModule } = await import('@hidden-schema/base/paper-module');
  const { config } = Run.open(directory);
  const name = isRival(config) ? rivalNames[config.model] : config.model;
  return paperModule<RivalVerbs>('rivals/verbs.ts', `${directory} is a run of ${name}, which`);
}
