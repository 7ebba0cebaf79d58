// npm run check:reference             fails where a public name has no documentation, or a link in one leads nowhere
// npm run check:reference -- --write  writes the reference of the library to docs/reference/library, which git ignores
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Analysis, analyses } from '@hidden-schema/studies/analyses';
import { optionForms } from '@hidden-schema/studies/option-forms';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = path.join(ROOT, 'docs/reference/library');
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

/** Writes the pages into a folder; false where a name says nothing or a link leads nowhere, which typedoc reports. */
async function writePages(folder: string): Promise<boolean> {
  // typedoc empties the folder it writes into, so it gets a folder of its own.
  const app = await Application.bootstrapWithPlugins({ ...options, out: folder } as Partial<TypeDocOptions>);
  const project = await app.convert();
  if (!project) return false;
  app.validate(project);
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project);
  return !(app.logger.hasErrors() || app.logger.hasWarnings());
}

/** The page of analyses: a section each, from the table that verbs, methods, endpoints and tools are made from. */
async function analysesPage(): Promise<string> {
  const all = await Promise.all(
    Object.values(analyses).map((load) => load() as unknown as Promise<Analysis>),
  );
  const sections = all.map((one) => {
    const verb = `hsn ${one.verb ?? one.name}`;
    const method = one.name === 'symbols' ? 'describe' : one.name;
    const needs = one.needs.length > 0 ? ` Needs ${one.needs.join(', ')}.` : '';
    const rows = optionForms(one).map(
      ({ option, flag, argument, own, description }) =>
        `| \`${option}\` | ${own ? '' : argument ? `\`${argument}\`` : `\`--${flag}\``} | ${description} |`,
    );
    const ways = `\`${verb}\` · \`schema.${method}()\` · \`POST /api/analyses/${one.name}\` · MCP tool \`${one.name}\``;
    const table = ['| option | on the command line | |', '|---|---|---|', ...rows].join('\n');
    return `## ${one.name}\n\n${one.description}${needs}\n\n${ways}\n\n${table}\n\n${one.notes}\n`;
  });
  return `# Analyses\n\nFor looking up what can be asked of a run, and by which name in each way in.\n\n${sections.join('\n')}`;
}

const write = process.argv.includes('--write');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-reference-'));
try {
  if (!(await writePages(folder))) process.exitCode = 1;
  else if (write) {
    fs.rmSync(OUT, { recursive: true, force: true });
    fs.cpSync(folder, OUT, { recursive: true });
    fs.writeFileSync(path.join(OUT, 'analyses.md'), await analysesPage());
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
