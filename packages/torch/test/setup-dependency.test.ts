import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isDependency, mayInstall } from '../setup/choice.ts';
import { setup } from '../setup/main.ts';
import { faultOf, machine, places, program, recorder, root, useMadeUpMachine } from './made-up-machine.ts';

useMadeUpMachine();

it('a checkout is told from a dependency by what is run, where it lies, and whose install it is', () => {
  const checkout = join(root, 'checkout');
  const project = join(root, 'project');
  for (const folder of [join(checkout, 'packages/cli'), project]) mkdirSync(folder, { recursive: true });
  symlinkSync(checkout, join(root, 'link'));
  const file = join(checkout, 'packages/torch/setup/main.ts');
  const seen = (env: NodeJS.ProcessEnv, run = file) => isDependency(run, checkout, env);
  expect(seen({})).toBe(false);
  expect(seen({ npm_config_local_prefix: checkout, INIT_CWD: project })).toBe(false);
  expect(seen({ npm_config_local_prefix: join(root, 'link') })).toBe(false);
  expect(seen({ INIT_CWD: join(checkout, 'packages/cli') })).toBe(false);
  expect(seen({ npm_config_local_prefix: project, INIT_CWD: checkout })).toBe(true);
  expect(seen({ INIT_CWD: project })).toBe(true);
  expect(seen({ INIT_CWD: root })).toBe(true);
  expect(seen({ npm_config_local_prefix: checkout, npm_config_global: 'true' })).toBe(true);
  const compiled = join(project, 'node_modules/hidden-schema-networks/lib/torch/setup/main.js');
  expect(seen({}, compiled)).toBe(true);
  expect(seen({}, compiled.replace('node_modules/', '').replace('.js', '.ts'))).toBe(false);
  expect(seen({}, compiled.replace('.js', '.ts'))).toBe(true);
});

it('what may not install asks apt-get for nothing, not even as root, unless the user chose apt', async () => {
  const dependency = (env: Record<string, string> = {}) => machine({ isRoot: true, installs: false, env });
  expect(mayInstall(machine({ isRoot: true }))).toBe(true);
  expect(mayInstall(dependency())).toBe(false);
  expect(mayInstall(dependency({ HSN_LIBTORCH: 'system' }))).toBe(false);
  expect(mayInstall(dependency({ HSN_LIBTORCH: 'apt' }))).toBe(true);
  program('apt-get', `echo called >> '${root}/calls'`);
  const progress = recorder();
  const text = await faultOf(setup(dependency(), places(), progress));
  expect(text).toContain('none, and as a dependency nothing is installed on the system');
  expect(progress.text()).not.toContain('apt-get');
});
