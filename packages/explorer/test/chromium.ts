import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The Chromium that browser tests drive: $CHROMIUM, or where Debian and others put it. */
export function findChromium(): string | undefined {
  const asked = process.env.CHROMIUM;
  const names = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return [...(asked ? [asked] : []), ...names].find((name) => existsSync(name));
}

/** Before all tests: on Debian as root, a missing Chromium is installed; elsewhere its tests say what to do. */
export default function setup(): void {
  if (findChromium() !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  process.stderr.write(
    'installing Chromium for the browser tests (apt-get install chromium), about a minute\n',
  );
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']])
    spawnSync('apt-get', args, { stdio: 'ignore', env });
}
