import { openSealed, readText, sealedText, UserError } from '@hidden-schema/base';

export const MODEL = 'model.safetensors';
export const OPTIMIZER = 'optimizer.safetensors';
export const STATE = 'state.json';
export const MANIFEST = 'manifest.json';
const MANIFEST_FORMAT = 1;
const PARTS = new Set([MODEL, OPTIMIZER, STATE]);

/** Hashes and sizes of a checkpoint's files, written after them. */
export interface Manifest {
  format: number;
  step: number;
  files: Record<string, { sha256: string; size: number }>;
}

/** The manifest as it is written (`sealedText`). */
export function manifestText(step: number, files: Manifest['files'], format = MANIFEST_FORMAT): string {
  return sealedText({ format, step, files });
}

/** Reads a manifest and checks it against its own hash. */
export function readManifest(file: string, step: number): Manifest {
  const manifest = openSealed(readText(file)) as Manifest | undefined;
  if (manifest && manifest.format > MANIFEST_FORMAT)
    throw new UserError(`${file} has format ${manifest.format}; this version reads up to ${MANIFEST_FORMAT}`);
  const names = Object.keys(manifest?.files ?? {});
  const complete = names.includes(MODEL) && names.includes(STATE) && names.every((name) => PARTS.has(name));
  if (manifest?.step !== step || !complete)
    throw new UserError(`${file} is damaged: expected the manifest of step ${step} as it was written`);
  return manifest;
}
