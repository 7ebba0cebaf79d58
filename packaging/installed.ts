import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { FACE, ROOT } from './packages.ts';

/** The program that an installed package is tried with. */
const PROGRAM = path.join(ROOT, 'fixtures/package-program/program.ts');

/** How a user's compiler may look for modules. */
export const RESOLUTIONS = { node16: 'Node16', bundler: 'ESNext' } as const;
export type Resolution = keyof typeof RESOLUTIONS;

/** What the program prints. */
export interface Printed {
  steps: number;
  walk: number[];
  text: string;
  refused: boolean[];
  status: number[];
  six: number;
  link: number;
  sentences: number;
  symbols: number;
  task: string;
}

/** The package in a folder of its own, as npm installs it. */
export class InstalledPackage {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  /** Installs packages into an empty folder, as npm names them; no scripts run. */
  constructor(packages: readonly string[], folder: string, env: NodeJS.ProcessEnv = {}) {
    this.folder = folder;
    this.#env = { ...process.env, ...env };
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    this.#run('npm', ['install', ...quietly, ...packages]);
    fs.copyFileSync(PROGRAM, path.join(folder, 'program.ts'));
  }

  /** Checks the program's types against the package's, libraries' declarations included, and compiles it. */
  compile(resolution: Resolution): void {
    const compilerOptions = {
      ...{ target: 'ES2022', module: RESOLUTIONS[resolution], moduleResolution: resolution },
      ...{ strict: true, skipLibCheck: false },
    };
    const config = path.join(this.folder, 'tsconfig.json');
    fs.writeFileSync(config, JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    this.#run(process.execPath, [path.join(ROOT, 'node_modules/typescript/lib/tsc.js'), '-p', config]);
  }

  /** What the compiled program prints when it trains into a folder. */
  runProgram(out: string, node = process.execPath): Printed {
    return JSON.parse(this.#run(node, ['program.js', out])) as Printed;
  }

  /** The command line's output. */
  hsn(args: readonly string[], node = process.execPath, env: NodeJS.ProcessEnv = {}): string {
    return this.#run(node, [path.join(this.folder, 'node_modules', FACE, 'bin/hsn.js'), ...args], env);
  }

  /** The same as people start it. */
  npx(...args: string[]): string {
    return this.#run('npx', ['--no-install', 'hsn', ...args]);
  }

  #run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
    const options = { cwd: this.folder, env: { ...this.#env, ...env }, encoding: 'utf8' } as const;
    try {
      return execFileSync(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
    }
  }
}
