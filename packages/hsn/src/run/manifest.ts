import { readText, sealedText, UserError } from '@hidden-schema/base';

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

/** The manifest with a hash of itself, in exactly one spelling, so that a change of any byte shows. */
export function manifestText(step: number, files: Manifest['files'], format = MANIFEST_FORMAT): string {
  return sealedText({ format, step, files });
}

/** Reads a manifest and checks it against its own hash. */
export function readManifest(file: string, step: number): Manifest {
  const manifest = parseExactly(readText(file));
  if (manifest && manifest.format > MANIFEST_FORMAT)
    throw new UserError(`${file} has format ${manifest.format}; this version reads up to ${MANIFEST_FORMAT}`);
  const names = Object.keys(manifest?.files ?? {});
  const complete = names.includes(MODEL) && names.includes(STATE) && names.every((name) => PARTS.has(name));
  if (manifest?.step !== step || !complete)
    throw new UserError(`${file} is damaged: expected the manifest of step ${step} as it was written`);
  return manifest;
}

/** The manifest, if the text is just what this program writes for it. */
function parseExactly(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest;
    return text === manifestText(manifest.step, manifest.files, manifest.format) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
