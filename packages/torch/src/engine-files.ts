import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enginePackage, installedPrebuilt, type Prebuilt, prebuiltFile } from './prebuilt.ts';

/** Which engine this process loads. */
export interface EngineFiles {
  /** The addon. */
  readonly addon: string;
  /** The package that it comes from, where it was not compiled here. */
  readonly prebuilt?: Prebuilt;
  /** Why a prebuilt engine that is installed is not used. */
  readonly passedOver?: string;
}

/** What the choice depends on; a test puts its own. */
interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the engine that `hsn setup` compiles. */
  readonly build: string;
  /** This library's version. */
  readonly version: string;
  readonly prebuilt: Prebuilt | undefined;
}

const own = fileURLToPath(import.meta.url);
const packageFolder = join(dirname(own), '..');

/** Values of HSN_LIBTORCH that ask for no particular libtorch. */
const noChoice: readonly (string | undefined)[] = [undefined, '', 'none'];

/**
 * The engine of this process. HSN_ADDON names its file. HSN_LIBTORCH, now or when `hsn setup` compiled, asks for the
 * compiled engine. Else the prebuilt one of the same version is taken, then the compiled one.
 */
export function chooseEngine({ env, build, version, prebuilt }: Surroundings): EngineFiles {
  if (env.HSN_ADDON !== undefined) return { addon: env.HSN_ADDON };
  const compiled = join(build, 'torch.node');
  if (prebuilt === undefined) return { addon: compiled };
  const wanted = env.HSN_LIBTORCH;
  if (wanted !== 'prebuilt') {
    const asked = noChoice.includes(wanted) ? undefined : `HSN_LIBTORCH=${wanted} asks for another libtorch`;
    const chosen = asked ?? chosenAtSetup(build);
    if (chosen !== undefined) return { addon: compiled, passedOver: chosen };
  }
  const { manifest } = prebuilt;
  if (manifest.version === version) return { addon: prebuiltFile(prebuilt, 'torch.node'), prebuilt };
  const other = `${manifest.name} is ${manifest.version}, this program ${version}: npm install ${manifest.name}@${version}`;
  return { addon: compiled, passedOver: other };
}

/** Who chose the libtorch that was compiled against, as set-up wrote it down. */
function chosenAtSetup(build: string): string | undefined {
  try {
    const { chosenBy } = JSON.parse(readFileSync(join(build, 'info.json'), 'utf8')) as { chosenBy?: unknown };
    return typeof chosenBy === 'string' ? `${chosenBy} asked for another libtorch at "hsn setup"` : undefined;
  } catch {
    return undefined;
  }
}

/** The prebuilt engine for this platform that npm installed beside this library, of any version. */
export const prebuiltBeside = (): Prebuilt | undefined => installedPrebuilt(own);

/** npm's name of the prebuilt engine for this platform. */
export const prebuiltName = (): string => enginePackage(process.platform, process.arch);

let files: EngineFiles | undefined;

/** The engine of this process, chosen once. */
export function engineFiles(): EngineFiles {
  files ??= chooseEngine({
    env: process.env,
    build: join(packageFolder, 'build'),
    version: ownVersion(),
    prebuilt: prebuiltBeside(),
  });
  return files;
}

/** This library's version, which a prebuilt engine must have too. */
export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}
