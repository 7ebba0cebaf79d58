import type { ReasoningConfig } from '@hidden-schema/hsn';
import { readSettings } from './settings-file.ts';
import { print } from './terminal.ts';
import type { TrainingFlags } from './training-run.ts';

export interface ReasonTrainFlags extends TrainingFlags {
  part: string;
  tuples?: string;
  run?: string;
  out?: string;
  decoder?: string;
  comet?: string;
  limit?: string;
}

/** The settings: a file's, else an earlier run's, else the defaults; with `--set` on top. */
export async function reasonSettings(
  file: string | undefined,
  from: ReasoningConfig | undefined,
  overrides: readonly string[],
): Promise<ReasoningConfig> {
  const { discoveringDefaults } = await import('@hidden-schema/hsn/config/defaults');
  const { dumpConfig, loadConfig, tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const text =
    file === undefined ? (from ? dumpConfig(from) : '') : await readSettings(file, 'experiments/reasoning');
  const beneath = from ? {} : { beneath: discoveringDefaults };
  return tuplesConfig(loadConfig(text, file ?? 'settings', overrides, { fallback: 'reasoning', ...beneath }));
}

/** Says how a training ended, after its figures. */
export function report(
  result: { state: string; step: number },
  run: string,
  figures: string,
  folder = run,
): void {
  print(`${figures}run ${result.state} at step ${result.step}: ${folder}\n`);
}
