// Options that many verbs share: --device, --threads and --corpus.
import { existsSync } from 'node:fs';
import { UserError } from '@hidden-schema/base/errors';
import { analyses } from '@hidden-schema/studies/analyses';
import type { Command } from 'commander';
import { wholeNumber } from './text-flags.ts';

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

/** Sets the threads that `--threads` asks for; without it, all cores are used. */
export async function useThreads(asked: string | undefined): Promise<void> {
  const count = wholeNumber('--threads', asked);
  if (count === undefined) return;
  const { setThreads } = await import('@hidden-schema/torch');
  setThreads(count);
}

/** Verbs that may read the corpus of a run. */
const readers = new Set([
  ...['encode', 'generate', 'export', 'graph', 'interpolate', 'merge', 'split', 'update', 'report', 'serve'],
  ...Object.keys(analyses),
]);

/** Lets verbs that read a run's corpus be told where it is. */
export function addCorpusOption(command: Command): void {
  if (!readers.has(command.name())) return;
  command.option(
    '--corpus <place>',
    'where the corpus is, if it was moved or the run came from elsewhere; once more for each file of an update',
    (place: string, all: string[] = []) => [...all, place],
  );
}

/** Takes the corpus that is named for a run, where it is the one that the run was trained on. */
export async function takeCorpus(command: Command): Promise<void> {
  const { corpus } = command.opts() as { corpus?: string[] };
  if (corpus === undefined || !readers.has(command.name())) return;
  const [run] = command.processedArgs as [string | string[]];
  const runs = [run].flat();
  if (runs.length !== 1) {
    throw new UserError(
      `--corpus is for one run, got ${runs.length}; name it for each with hsn symbols RUN --corpus`,
    );
  }
  const { nameCorpus } = await import('@hidden-schema/hsn/name-corpus');
  await nameCorpus(runs[0]!, corpus);
}
