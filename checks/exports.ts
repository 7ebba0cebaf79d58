// node --import tsx checks/exports.ts           fails on a name that a package exports and nobody outside it uses
// node --import tsx checks/exports.ts --write   takes such names out of the index
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportFaults, SCOPE, sourceFiles } from './source-files.ts';

/** Where uses are looked for, besides the packages. */
const outside = ['paper', 'bench', 'examples', 'faults', 'checks'];

const namesIn = (braces: string): string[] =>
  braces
    .split(',')
    .map((item) => item.trim().replace(/^type\s+/, ''))
    .filter((item) => item !== '');

/** Names that an index exports from its own files; a star hides what it exports, so it is a fault. */
function exportedNames(index: string): { names: string[]; faults: string[] } {
  const text = fs.readFileSync(index, 'utf8');
  const lists = [...text.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'\.[^']*'/g)];
  const names = lists.flatMap(([, list]) => namesIn(list!).map((item) => item.split(/\s+as\s+/).at(-1)!));
  const spaces = [...text.matchAll(/export\s+\*\s+as\s+(\w+)\s+from/g)].map(([, name]) => name!);
  const stars = [...text.matchAll(/export\s+(?:type\s+)?\*\s+from\s+'([^']+)'/g)];
  return {
    names: [...names, ...spaces],
    faults: stars.map(([, file]) => `${index} exports all of ${file}: name what others use`),
  };
}

/** Names that a file takes from a package: those in braces, or every word where it takes the whole. */
function namesUsed(text: string, target: string): Set<string> {
  const quoted = `'${target.replaceAll('/', '\\/')}'`;
  const used = new Set<string>();
  const mentions = [...text.matchAll(new RegExp(quoted, 'g'))].length;
  const lists = [
    ...text.matchAll(new RegExp(`(?:import|export)\\s+(?:type\\s+)?\\{([^}]*)\\}\\s+from\\s+${quoted}`, 'g')),
    ...text.matchAll(new RegExp(`\\{([^{}]*)\\}\\s*=\\s*await import\\(\\s*${quoted}\\s*\\)`, 'g')),
  ];
  for (const [, list] of lists)
    for (const item of namesIn(list!)) used.add(item.split(/\s+as\s+|\s*:\s*/)[0]!);
  if (lists.length < mentions) for (const [word] of text.matchAll(/\w+/g)) used.add(word);
  return used;
}

/** The names that a package is imported by, and the file behind each. */
function entriesOf(folder: string): { name: string; file: string }[] {
  const { name, exports = {} } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    name: string;
    exports?: Record<string, string>;
  };
  // A file that is imported by itself serves its own package too: only an index is a list for others.
  const listed = Object.entries(exports).filter(([, file]) => file.endsWith('/index.ts'));
  return listed.map(([key, file]) => ({
    name: path.posix.join(name, key),
    file: path.posix.join(folder, file),
  }));
}

/** Takes names out of an index, and lists that are empty then. */
function takeOut(index: string, names: ReadonlySet<string>): void {
  const list = /export\s+(type\s+)?\{([^}]*)\}\s+from\s+('\.[^']*');\n/g;
  const text = fs.readFileSync(index, 'utf8');
  const fresh = text.replace(list, (_, type: string | undefined, inside: string, from: string) => {
    const items = inside.split(',').map((item) => item.trim());
    const kept = items.filter(
      (item) =>
        item !== '' &&
        !names.has(
          item
            .replace(/^type\s+/, '')
            .split(/\s+as\s+/)
            .at(-1)!,
        ),
    );
    return kept.length > 0 ? `export ${type ?? ''}{ ${kept.join(', ')} } from ${from};\n` : '';
  });
  if (names.size > 0) fs.writeFileSync(index, fresh);
}

/** Faults of one package, by the texts of all files. */
function packageFaults(folder: string, texts: ReadonlyMap<string, string>): string[] {
  return entriesOf(folder).flatMap(({ name, file }) => {
    // The public face is there for people, not for this repository.
    if (!name.startsWith(SCOPE)) return [];
    const { names, faults } = exportedNames(file);
    const used = new Set<string>();
    for (const [user, text] of texts)
      if (!user.startsWith(`${folder}/`)) for (const each of namesUsed(text, name)) used.add(each);
    const unused = names.filter((each) => !used.has(each));
    if (process.argv.includes('--write')) {
      takeOut(file, new Set(unused));
      return faults;
    }
    return [
      ...faults,
      ...unused.map((each) => `${file} exports ${each}, which nobody outside ${folder} uses`),
    ];
  });
}

function main(): void {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const folders = fs.readdirSync('packages').map((name) => `packages/${name}`);
  const files = [...folders, ...outside].flatMap(sourceFiles);
  const texts = new Map(files.map((file) => [file, fs.readFileSync(file, 'utf8')]));
  reportFaults(folders.flatMap((folder) => packageFaults(folder, texts)));
}

main();
