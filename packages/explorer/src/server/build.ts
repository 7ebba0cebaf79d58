import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const DIST = path.join(root, 'dist/page');
const PAGE = path.join(root, 'src/page');

/** The folder of the built page; built first when it is missing or older than its sources. */
export async function builtPage(say: (text: string) => void = () => undefined): Promise<string> {
  if (!stale()) return DIST;
  const began = performance.now();
  say('building the explorer page …');
  await buildPage();
  say(`built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return DIST;
}

/** Builds beside the old page and swaps, so that another process never meets half a page. */
export async function buildPage(): Promise<void> {
  const { build } = await import('vite');
  const fresh = path.join(root, `dist/building-${process.pid}`);
  await build({
    configFile: false,
    logLevel: 'warn',
    root: PAGE,
    base: '/',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: fresh,
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
  fs.rmSync(DIST, { recursive: true, force: true });
  fs.renameSync(fresh, DIST);
}

function stale(): boolean {
  const built = fs.statSync(path.join(DIST, 'index.html'), { throwIfNoEntry: false });
  if (!built) return true;
  return [PAGE, path.join(root, 'src/shared')].some((folder) => newest(folder) > built.mtimeMs);
}

const newest = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .reduce((latest, name) => Math.max(latest, fs.statSync(path.join(folder, name)).mtimeMs), 0);
