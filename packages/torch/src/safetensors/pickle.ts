import { basename, extname } from 'node:path';
import { SafetensorsError } from './errors.ts';
import { maxHeaderBytes } from './layout.ts';

const extensions = new Set(['.pt', '.pth', '.bin', '.ckpt', '.pkl', '.pickle']);

/** Whether a file's name is one that pickles go by. */
export function hasPickleName(file: string): boolean {
  return extensions.has(extname(file).toLowerCase());
}

function refuse(file: string, got: string): never {
  const source = basename(file);
  const target = `${basename(file, extname(file))}.safetensors`;
  const python = `import torch; from safetensors.torch import save_file; save_file({k: v.clone().contiguous() for k, v in torch.load(${JSON.stringify(source)}, map_location="cpu", weights_only=True).items()}, ${JSON.stringify(target)})`;
  throw new SafetensorsError(
    file,
    'pickle',
    'a .safetensors file',
    `${got}. Pickles can run any code when they are loaded, so they are never read here; convert it where you trust it, in Python: ${python}`,
  );
}

export function refusePickleName(file: string): void {
  if (hasPickleName(file)) refuse(file, `a file named ${extname(file)}, a Python pickle by its name`);
}

/** Knows a zip (torch.save) or a pickle by its first bytes, unless they are a header's length and its opening brace. */
export function refusePickleContent(prefix: Uint8Array, file: string): void {
  const [a, b, c, d] = prefix;
  const zip = a === 0x50 && b === 0x4b && c === 0x03 && d === 0x04;
  const pickle = a === 0x80 && b !== undefined && b <= 5;
  if (!(zip || pickle) || couldBeHeader(prefix)) return;
  refuse(file, zip ? 'a zip archive, as torch.save writes it' : 'a Python pickle');
}

// A header of 640 bytes starts with 80 02, as does a pickle of protocol 2.
function couldBeHeader(prefix: Uint8Array): boolean {
  if (prefix.length < 9 || prefix[8] !== 0x7b) return false;
  const length = new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true);
  return length <= BigInt(maxHeaderBytes);
}
