import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';

/**
 * Whether npm installs this program for somebody's project, or for the whole system, and not in its own checkout.
 * `file` is one of the program's own; `root` the folder of the checkout.
 */
export function isDependency(file: string, root: string, env: NodeJS.ProcessEnv): boolean {
  // A package that people install holds compiled files; a checkout is run as it is written.
  if (!file.endsWith('.ts') || file.split(sep).includes('node_modules')) return true;
  if (env.npm_config_global === 'true') return true;
  // The project of npm's command, wherever that was typed; other installers say at least where it was typed.
  const project = env.npm_config_local_prefix ?? env.INIT_CWD;
  return project !== undefined && relative(root, realpathSync(project)).split(sep)[0] === '..';
}
