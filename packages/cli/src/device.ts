import { existsSync } from 'node:fs';
import type { Command } from 'commander';

/** Verbs that compute with a model. */
const computing = new Set([
  ...['demo', 'train', 'reason', 'encode', 'explain', 'find', 'generate', 'interpolate', 'attend'],
  ...['eval', 'predict', 'update', 'split', 'serve', 'reproduce'],
]);

/** Lets verbs that compute be told where. */
export function addDeviceOption(command: Command): void {
  if (!computing.has(command.name())) return;
  for (const each of command.commands.length > 0 ? command.commands : [command])
    each.option('--device <name>', 'cpu, cuda, cuda:1 or auto: where models compute (default: cpu)');
}

/** Computes where `--device` says; processes that this one starts do so too. */
export async function takeDevice(command: Command): Promise<void> {
  const { device } = command.opts() as { device?: string };
  if (device === undefined) return;
  const { useDevice } = await import('@hidden-schema/torch');
  useDevice(device);
  process.env.HSN_DEVICE = device;
}

/** `--set` with the device that a flag asks for, so that a new run notes it. */
export const withDeviceSetting = ({ device, set }: { device?: string; set: string[] }): string[] =>
  device === undefined ? set : [...set, `device=${device}`];

export interface DeviceSetting {
  device?: string | undefined;
}

/** The settings of a run that training goes on with; only rank 0 of a group needs to have it. */
export async function settingsOfRun(folder: string | undefined): Promise<DeviceSetting> {
  if (folder === undefined || !existsSync(folder)) return {};
  const { Run } = await import('@hidden-schema/hsn/run/run');
  return Run.open(folder).config;
}

/** Trains where the settings say, unless `--device` or HSN_DEVICE do. */
export async function takeSettingsDevice(settings: () => Promise<DeviceSetting>): Promise<void> {
  if (process.env.HSN_DEVICE) return;
  const { device } = await settings();
  if (device === undefined) return;
  const { useDevice } = await import('@hidden-schema/torch');
  useDevice(device);
}
