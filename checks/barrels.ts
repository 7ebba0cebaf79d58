// node --import tsx checks/barrels.ts           fails on sources that import a package's index in place of the file they need
// node --import tsx checks/barrels.ts --write   imports the files themselves
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';
import { reportFaults, SCOPE, sourceFiles } from './source-files.ts';

/** Packages whose index loads far more than one file needs. */
const PACKAGES = ['text', 'transformers', 'hsn', 'studies'];
/** Sources that are checked; tests and the public entries may take an index. */
const SOURCES = ['base', 'torch', 'text', 'transformers', 'hsn', 'studies', 'explorer', 'cli']
  .map((name) => `packages/${name}/src`)
  .concat('paper/src');

/** What is read of a node of a syntax tree (ESTree). */
interface Node {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

/** A part of a text, and what replaces it. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((part) => (Array.isArray(part) ? part : [part]).filter(isNode));
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* nodesIn(child);
}

interface Origin {
  file: string;
  name: string;
}

/** From a name of a package to the file that declares it, such as `hsn:Run` → `@hidden-schema/hsn/run/run`. */
function declarations(): Map<string, Origin> {
  const found = new Map<string, Origin>();
  for (const one of PACKAGES) {
    const twice = new Set<string>();
    for (const [name, file] of declaredNames(one)) {
      const key = `${one}:${name}`;
      if (found.has(key)) twice.add(key);
      found.set(key, { file: `${SCOPE}${one}/${file}`, name });
    }
    for (const key of twice) found.delete(key);
    for (const [shown, origin] of indexNames(one)) found.set(`${one}:${shown}`, origin);
  }
  return found;
}

/** Names that files of a package export, with the file, from `src` and without its ending. */
function* declaredNames(of: string): Generator<[name: string, file: string]> {
  const statement = /^export (?:abstract |async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
  const folder = `packages/${of}/src/`;
  for (const file of sourceFiles(folder))
    for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(statement))
      yield [name!, file.slice(folder.length).replace(/\.ts$/, '')];
}

/** Names that the index of a package exports; they count where files of the package share a name. */
function* indexNames(of: string): Generator<[shown: string, origin: Origin]> {
  const list = /export\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'\.\/([^']+)\.ts'/g;
  for (const [, names, file] of fs.readFileSync(`packages/${of}/src/index.ts`, 'utf8').matchAll(list))
    for (const item of names!.split(',').map((part) => part.trim().replace(/^type\s+/, ''))) {
      const [name, shown = name] = item.split(/\s+as\s+/);
      if (item !== '') yield [shown!, { file: `${SCOPE}${of}/${file}`, name: name! }];
    }
}

const known = declarations();
const packageOf = (source: unknown): string | undefined => {
  const value = (source as { value?: unknown } | null)?.value;
  return PACKAGES.find((name) => value === `${SCOPE}${name}`);
};

/** Items by the file that declares them: [name in the index, text of the item with another name]. */
function byFile(
  of: string,
  items: readonly { name: string; write: (name: string) => string }[],
): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { name, write } of items) {
    const origin = known.get(`${of}:${name}`) ?? { file: `${SCOPE}${of}`, name };
    files.set(origin.file, [...(files.get(origin.file) ?? []), write(origin.name)]);
  }
  return files;
}

const nameOf = (node: unknown): string =>
  (node as { name?: string; value?: string }).name ?? String((node as Node).value);

/** `import { … } from` and `export { … } from`; types alone load nothing. */
function staticEdit(node: Node, of: string): Edit | undefined {
  if (node.importKind === 'type' || node.exportKind === 'type') return undefined;
  const specifiers = node.specifiers as Node[];
  if (specifiers.some(({ type }) => type !== 'ImportSpecifier' && type !== 'ExportSpecifier'))
    return undefined;
  const isImport = node.type === 'ImportDeclaration';
  const items = specifiers.map((one) => {
    const [name, here] = isImport ? [one.imported, one.local] : [one.local, one.exported];
    const kind = one.importKind === 'type' || one.exportKind === 'type' ? 'type ' : '';
    const as = (there: string) => (there === nameOf(here) ? there : `${there} as ${nameOf(here)}`);
    return { name: nameOf(name), write: (there: string) => `${kind}${as(there)}` };
  });
  const word = isImport ? 'import' : 'export';
  const lines = [...byFile(of, items)].map(
    ([file, list]) => `${word} { ${list.join(', ')} } from '${file}';`,
  );
  return { start: node.start, end: node.end, text: lines.join('\n') };
}

const dynamicLines = (files: ReadonlyMap<string, readonly string[]>): string =>
  [...files].map(([file, list]) => `const { ${list.join(', ')} } = await import('${file}');`).join('\n');

/** `const { … } = await import(…)`. */
function destructuredEdit(statement: Node, pattern: Node, of: string): Edit {
  const items = (pattern.properties as Node[]).map((one) => {
    const here = nameOf(one.value);
    return {
      name: nameOf(one.key),
      write: (there: string) => (there === here ? there : `${there}: ${here}`),
    };
  });
  return { start: statement.start, end: statement.end, text: dynamicLines(byFile(of, items)) };
}

/** `const studies = await import(…)` with `studies.name` after it in the same block; nothing where it is used as a whole. */
function namespaceEdits(statement: Node, local: string, of: string, scope: Scope): Edit[] {
  const inside = [...nodesIn(scope.block)];
  const members = inside.filter(
    (node) => node.type === 'MemberExpression' && nameOf(node.object) === local && !node.computed,
  );
  const uses = inside.filter((node) => node.type === 'Identifier' && node.name === local);
  const types = inside.filter(
    (node) => node.type === 'TSTypeQuery' && nameOf((node.exprName ?? {}) as Node) === local,
  );
  // The declaration itself is one use.
  if (types.length > 0 || uses.length !== members.length + 1) return [];
  const names = new Set(members.map(({ property }) => nameOf(property)));
  const here = (name: string): string =>
    scope.declared.has(name) ? `${local}${name[0]!.toUpperCase()}${name.slice(1)}` : name;
  const items = [...names].map((name) => ({
    name,
    write: (there: string) => (there === here(name) ? there : `${there}: ${here(name)}`),
  }));
  return [
    { start: statement.start, end: statement.end, text: dynamicLines(byFile(of, items)) },
    ...members.map(({ start, end, property }) => ({ start, end, text: here(nameOf(property)) })),
  ];
}

/** A block of statements, and names that are taken there. */
interface Scope {
  block: Node;
  declared: ReadonlySet<string>;
}

/** Names that a block declares anywhere inside: variables, functions, parameters. */
function declaredIn(block: Node): Set<string> {
  const names = new Set<string>();
  const add = (pattern: Node) => {
    for (const part of nodesIn(pattern)) if (part.type === 'Identifier') names.add(nameOf(part));
  };
  for (const node of nodesIn(block)) {
    if (/^(FunctionDeclaration|VariableDeclarator|ClassDeclaration)$/.test(node.type) && isNode(node.id))
      add(node.id);
    if (Array.isArray(node.params)) for (const parameter of node.params as Node[]) add(parameter);
  }
  return names;
}

/** Names that a file declares outside of its functions. */
function declaredByFile({ body }: Node): Set<string> {
  const names = new Set<string>();
  for (const statement of body as Node[]) {
    for (const one of (statement.specifiers as Node[] | undefined) ?? [])
      if (isNode(one.local)) names.add(nameOf(one.local));
    const made = isNode(statement.declaration) ? statement.declaration : statement;
    if (isNode(made.id)) names.add(nameOf(made.id));
    for (const one of (made.declarations as Node[] | undefined) ?? []) names.add(nameOf(one.id));
  }
  return names;
}

/** The package that `await import(…)` loads, where its index is meant. */
function awaited(node: unknown): string | undefined {
  const argument = isNode(node) && node.type === 'AwaitExpression' ? (node.argument as Node) : undefined;
  return argument?.type === 'ImportExpression' ? packageOf(argument.source) : undefined;
}

/** Edits of one statement of a block. */
function statementEdits(statement: Node, scope: Scope): Edit[] {
  const of = packageOf(statement.source);
  if (of !== undefined && Array.isArray(statement.specifiers))
    return [staticEdit(statement, of)].filter((edit) => edit !== undefined);
  if (statement.type !== 'VariableDeclaration') return [];
  const [declarator, ...others] = statement.declarations as Node[];
  const loaded = awaited(declarator?.init);
  if (loaded === undefined || others.length > 0) return [];
  const id = declarator!.id as Node;
  if (id.type === 'ObjectPattern') return [destructuredEdit(statement, id, loaded)];
  return id.type === 'Identifier' ? namespaceEdits(statement, nameOf(id), loaded, scope) : [];
}

/** `(await import(…)).name`. */
function memberEdit(node: Node): Edit[] {
  const of = node.type === 'MemberExpression' ? awaited(node.object) : undefined;
  const origin = of && known.get(`${of}:${nameOf(node.property)}`);
  return origin
    ? [{ start: node.start, end: node.end, text: `(await import('${origin.file}')).${origin.name}` }]
    : [];
}

function editsOf(program: Node): Edit[] {
  const outer = declaredByFile(program);
  const edits: Edit[] = [];
  for (const node of nodesIn(program)) {
    const body = node.type === 'Program' || node.type === 'BlockStatement' ? (node.body as Node[]) : [];
    const declared = body.length > 0 ? new Set([...outer, ...declaredIn(node)]) : outer;
    for (const statement of body) edits.push(...statementEdits(statement, { block: node, declared }));
    edits.push(...memberEdit(node));
  }
  return edits;
}

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { start, end, text: fresh } of edits.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, start) + fresh + result.slice(end);
  return result;
}

function main(): void {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const faults: string[] = [];
  for (const file of SOURCES.flatMap(sourceFiles).filter((name) => path.basename(name) !== 'index.ts')) {
    const text = fs.readFileSync(file, 'utf8');
    const program = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node;
    const fresh = process.argv.includes('--write') ? applied(text, editsOf(program)) : text;
    if (fresh !== text) fs.writeFileSync(file, fresh);
    // What is left is of types alone, or for the eyes of a person.
    const code = fresh.replace(/import type [^;]*;|export type [^;]*;|typeof import\([^)]*\)/g, '');
    for (const name of PACKAGES)
      if (code.includes(`'${SCOPE}${name}'`))
        faults.push(`${file} imports the index of ${SCOPE}${name}: import the file that it needs`);
  }
  reportFaults(faults);
}

main();
