import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBeside } from '@hidden-schema/base';

const root = fileURLToPath(new URL('../..', import.meta.url));
const DIST = path.join(root, 'dist');
const PAGE = path.join(root, 'src/page');
/** What the page takes from other packages; only where it is built from its sources. */
const foreignFolders = (): string[] =>
  ['@hidden-schema/studies/drawing', '@hidden-schema/studies/measures/figure-meanings'].map((name) =>
    path.dirname(fileURLToPath(import.meta.resolve(name))),
  );

/** The folder of the built page, named after its sources; built first when these have changed. */
export async function builtPage(say: (text: string) => void = () => undefined): Promise<string> {
  // A package from npm comes with its page, and without its sources.
  if (!fs.existsSync(PAGE)) return path.join(DIST, 'page');
  const folder = path.join(DIST, `page-${sourceHash()}`);
  if (fs.existsSync(folder)) return folder;
  const began = performance.now();
  say('building the explorer page …');
  const fresh = path.join(DIST, `building-${process.pid}`);
  // Another process may have built the same page meanwhile.
  await writeBeside(folder, buildPage, { partial: fresh, standing: 'kept' });
  removeOlderPages(folder);
  say(`built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return folder;
}

async function buildPage(folder: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    configFile: false,
    logLevel: 'warn',
    root: PAGE,
    base: '/',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      // The page's policy allows neither data: addresses nor inline scripts.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: { entryFileNames: 'app.js', chunkFileNames: '[name].js', assetFileNames: 'app[extname]' },
      },
    },
  });
}

function removeOlderPages(folder: string): void {
  for (const name of fs.readdirSync(DIST))
    if (name.startsWith('page-') && name !== path.basename(folder))
      fs.rmSync(path.join(DIST, name), { recursive: true, force: true });
}

function sourceHash(): string {
  const hash = createHash('sha256');
  for (const folder of [PAGE, path.join(root, 'src/shared'), ...foreignFolders()]) {
    for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      const file = path.join(folder, name);
      if (fs.statSync(file).isFile()) hash.update(`${name}\0`).update(fs.readFileSync(file));
    }
  }
  // The libraries' versions, and how they are put together.
  for (const file of ['package.json', 'src/server/build.ts'])
    hash.update(fs.readFileSync(path.join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
