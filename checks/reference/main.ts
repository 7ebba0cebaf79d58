// npm run check:reference             fails where docs/reference is not what the sources say, or a public name says nothing
// npm run check:reference -- --write  writes it anew
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { reportFaults } from '../source-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = path.join(ROOT, 'docs/reference');
const FACE = path.join(ROOT, 'packages/hidden-schema-networks/src');

/** Nothing of a machine, a day or a commit: the same sources give the same pages. */
const options: Partial<TypeDocOptions & PluginOptions> = {
  entryPoints: ['index', 'model', 'torch', 'explorer', 'studies'].map((name) =>
    path.join(FACE, `${name}.ts`),
  ),
  tsconfig: path.join(ROOT, 'tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  name: 'hidden-schema-networks',
  readme: 'none',
  router: 'module',
  entryFileName: 'README',
  disableSources: true,
  disableGit: true,
  hideGenerator: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeInternal: true,
  excludeExternals: true,
  // `npm run check:types` judges types, with this repository's own compiler.
  skipErrorChecking: true,
  sort: ['kind', 'instance-first', 'alphabetical'],
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  formatWithPrettier: false,
  validation: { notExported: false, invalidLink: true, notDocumented: true },
  requiredToBeDocumented: ['Class', 'Interface', 'Function', 'Variable', 'TypeAlias', 'Method', 'Accessor'],
  logLevel: 'Warn',
};

/** Writes the pages into a folder; false where a name says nothing or a link leads nowhere, which typedoc has told. */
async function writePages(folder: string): Promise<boolean> {
  // typedoc empties the folder it writes into, so it is never told of another one.
  const app = await Application.bootstrapWithPlugins({ ...options, out: folder } as Partial<TypeDocOptions>);
  const project = await app.convert();
  if (!project) return false;
  app.validate(project);
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
  return !(app.logger.hasErrors() || app.logger.hasWarnings());
}

/** Pages of a folder by name. */
function pagesOf(folder: string): Map<string, string> {
  if (!fs.existsSync(folder)) return new Map();
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names
      .filter((name) => fs.statSync(path.join(folder, name)).isFile())
      .map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]),
  );
}

/** Names of pages that differ, are missing or too many. */
function differing(kept: ReadonlyMap<string, string>, made: ReadonlyMap<string, string>): string[] {
  const names = new Set([...kept.keys(), ...made.keys()]);
  return [...names].filter((name) => kept.get(name) !== made.get(name)).sort();
}

const write = process.argv.includes('--write');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-reference-'));
try {
  if (!(await writePages(folder))) process.exitCode = 1;
  else if (write) {
    fs.rmSync(OUT, { recursive: true, force: true });
    fs.cpSync(folder, OUT, { recursive: true });
  } else {
    const faults = differing(pagesOf(OUT), pagesOf(folder));
    reportFaults(
      faults.map((name) => `docs/reference/${name} is not current: npm run check:reference -- --write`),
    );
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
