// node --import tsx checks/imports.ts           fails on an import against the arrow, or on a circle of folders
// node --import tsx checks/imports.ts --write   also writes the graph into docs/research/architecture.md
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportFaults, SCOPE, sourceFiles } from './source-files.ts';

/** Packages, each of which may import those before it. */
const order = [
  'base',
  'torch',
  'text',
  'transformers',
  'hsn',
  'studies',
  'explorer',
  'cli',
  'hidden-schema-networks',
] as const;
/** What stands on top of the packages and is never shipped: they import packages, no package imports them. */
const above = ['paper', 'bench', 'faults'] as const;
/** What tests share: nothing that is shipped may import it, nor need it. */
const testing = `${SCOPE}testing`;
const document = 'docs/research/architecture.md';
const [begin, end] = ['<!-- imports: begin -->', '<!-- imports: end -->'];

/** From one place to another: the files that import. */
type Edges = Map<string, Map<string, string[]>>;

function add(edges: Edges, from: string, to: string, file: string): void {
  const targets = edges.get(from) ?? new Map<string, string[]>();
  targets.set(to, [...(targets.get(to) ?? []), file]);
  edges.set(from, targets);
}

const importPattern = /(?:from|import)\s*\(?\s*'([^']+)'/g;
const importsOf = (file: string): string[] =>
  [...fs.readFileSync(file, 'utf8').matchAll(importPattern)].map(([, target]) => target!);

/** A folder of a package's `src`, or a file that lies in none. */
function placeOf(file: string): string {
  const [, , , ...rest] = file.split('/');
  return rest.length > 1 ? rest[0]! : rest[0]!.replace(/\.tsx?$/, '.ts');
}

const isAbove = (name: string): boolean => (above as readonly string[]).includes(name);

/** What paper, bench and faults import: packages, and paper where bench and faults do. */
function readAbove(packages: Edges): string[] {
  return above.flatMap((name, rank) =>
    sourceFiles(name === 'paper' ? 'paper/src' : name).flatMap((file) =>
      importsOf(file).flatMap((target) => {
        const other = target.startsWith(SCOPE)
          ? target.slice(SCOPE.length).split('/')[0]!
          : path.posix.normalize(path.posix.join(path.posix.dirname(file), target)).split('/')[0]!;
        if (target.startsWith(SCOPE)) add(packages, name, other, file);
        else if (!target.startsWith('.') || !isAbove(other) || other === name) return [];
        return isAbove(other) && above.indexOf(other as (typeof above)[number]) > rank
          ? [`${file} imports ${target}, which stands above ${name}`]
          : [];
      }),
    ),
  );
}

/** What packages and folders import, with what goes against the arrow. */
function read(): { packages: Edges; folders: Map<string, Edges>; faults: string[] } {
  const packages: Edges = new Map();
  const folders = new Map<string, Edges>();
  const faults: string[] = [];
  for (const [rank, name] of order.entries()) {
    const own: Edges = new Map();
    folders.set(name, own);
    for (const file of sourceFiles(`packages/${name}/src`))
      for (const target of importsOf(file)) {
        if (target.startsWith(SCOPE)) {
          const other = target.slice(SCOPE.length).split('/')[0]!;
          if (other === name) faults.push(`${file} imports its own package by name`);
          else if (other === 'testing') faults.push(`${file} imports ${target}, which is for tests alone`);
          else if (isAbove(other) || order.indexOf(other as (typeof order)[number]) > rank)
            faults.push(`${file} imports ${target}, which stands above ${name}`);
          add(packages, name, other, file);
        } else if (target.startsWith('.')) {
          const found = path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
          if (!found.startsWith(`packages/${name}/src/`)) {
            if (
              isAbove(found.split('/')[0]!) ||
              (found.startsWith('packages/') && !found.startsWith(`packages/${name}/`))
            )
              faults.push(`${file} reaches into another package: ${target}`);
            continue;
          }
          const [from, to] = [placeOf(file), placeOf(found)];
          if (from !== to && from !== 'index.ts') add(own, from, to, file);
        }
      }
  }
  faults.push(...readAbove(packages));
  return { packages, folders, faults };
}

/** Packages that would bring the testing package along when they are installed. */
function shippedTesting(): string[] {
  return order
    .map((name) => `packages/${name}/package.json`)
    .filter((file) => {
      const { dependencies = {} } = JSON.parse(fs.readFileSync(file, 'utf8')) as {
        dependencies?: Record<string, string>;
      };
      return testing in dependencies;
    })
    .map((file) => `${file} depends on ${testing}, which is for tests alone: devDependencies`);
}

/** Places that import each other in a circle (Tarjan's strongly connected components). */
function circles(edges: Edges): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (place: string): void => {
    index.set(place, index.size);
    low.set(place, index.get(place)!);
    stack.push(place);
    for (const next of edges.get(place)?.keys() ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(place, Math.min(low.get(place)!, low.get(next)!));
    }
    if (low.get(place) !== index.get(place)) return;
    const circle = stack.splice(stack.indexOf(place));
    // Files that lie in no folder are the linter's business.
    if (circle.length > 1 && circle.some((each) => !each.endsWith('.ts'))) found.push(circle.sort());
  };
  for (const place of edges.keys()) if (!index.has(place)) visit(place);
  return found;
}

function circleFault(name: string, edges: Edges, circle: readonly string[]): string {
  const inside = circle.flatMap((from) =>
    [...(edges.get(from) ?? [])]
      .filter(([to]) => circle.includes(to))
      .map(
        ([to, files]) =>
          `    ${from} → ${to}: ${files[0]}${files.length > 1 ? ` and ${files.length - 1} more` : ''}`,
      ),
  );
  return `packages/${name}: ${circle.join(', ')} import each other in a circle\n${inside.join('\n')}`;
}

/** The graph in words: a line for each package, then for each folder of the packages that have some. */
function drawn({ packages, folders }: ReturnType<typeof read>): string {
  const line = (from: string, edges: Edges) => {
    const targets = [...(edges.get(from)?.keys() ?? [])].sort();
    return `  ${from.padEnd(16)} ${targets.length > 0 ? `→ ${targets.join(', ')}` : ''}`.trimEnd();
  };
  const lines = ['packages', ...[...order, ...above].map((name) => line(name, packages))];
  for (const [name, edges] of folders) {
    const places = new Set([...edges.keys(), ...[...edges.values()].flatMap((to) => [...to.keys()])]);
    const files = [...places].filter((place) => place.endsWith('.ts')).length;
    if (places.size < 2 * files || places.size < 3) continue;
    lines.push('', `packages/${name}/src`, ...[...places].sort().map((place) => line(place, edges)));
  }
  return `${begin}\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n${end}`;
}

function main(): void {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const found = read();
  const faults = [...found.faults, ...shippedTesting()];
  for (const [name, edges] of found.folders)
    for (const circle of circles(edges)) faults.push(circleFault(name, edges, circle));
  const text = fs.readFileSync(document, 'utf8');
  const fresh = text.replace(new RegExp(`${begin}[^]*${end}`), () => drawn(found));
  if (process.argv.includes('--write')) fs.writeFileSync(document, fresh);
  else if (fresh !== text)
    faults.push(
      `${document} shows another graph than the imports make: node --import tsx checks/imports.ts --write`,
    );
  reportFaults(faults);
}

main();
