import type { CacheEntry, CacheKind } from '@hidden-schema/base';
import { UserError } from '@hidden-schema/base/errors';
import type { Command } from 'commander';
import { print } from './terminal.ts';

interface CacheFlags {
  clear?: string | true;
  older?: string;
  json?: boolean;
}

const meanings: Record<CacheKind, string> = {
  vectors: 'texts as an encoder gives them',
  tokens: 'corpora as numbers of tokens',
  hub: 'models from the hub',
  converted: 'models in another layout',
  distilled: 'encoders that were distilled for --encoder fast',
  tokenizers: 'tokenizers that were found safe',
  input: 'copies of standard input',
};

const examples = `
Examples:
  $ hsn cache                        what is there, by kind
  $ hsn cache --older 30             what was not used for 30 days
  $ hsn cache --clear                remove everything; it is made, or fetched, again when it is needed
  $ hsn cache --clear vectors        one kind: ${Object.keys(meanings).join(', ')}
  $ hsn cache --clear --older 30     what was not used for 30 days

The cache lies in HSN_CACHE, else ~/.cache/hsn. Vectors, and likewise tokens, take 4096 MB at most, or what
HSN_CACHE_LIMIT says in MB: then those go that were not used for longest. What is being written now is left.
`;

export function register(program: Command): void {
  program
    .command('cache')
    .summary('what the cache holds: tokens, vectors, models; clear it')
    .description('List what the cache holds, or clear it.')
    .option('--clear [kind]', 'remove everything, or one kind')
    .option('--older <days>', 'only what was not used for so many days')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(cache);
}

async function cache({ clear, older, json }: CacheFlags): Promise<void> {
  const base = await import('@hidden-schema/base');
  const kind = base.CACHE_KINDS.find((name) => name === clear);
  if (typeof clear === 'string' && !kind)
    throw new UserError(`--clear takes one of ${base.CACHE_KINDS.join(', ')}, or nothing, got ${clear}`);
  const latest = Date.now() - daysOf(older) * 24 * 3600_000;
  const folder = base.cacheFolder();
  const entries = base
    .cacheEntries(folder)
    .filter((entry) => entry.used <= latest && (kind === undefined || entry.kind === kind));
  if (clear !== undefined) base.removeEntries(entries);
  const kinds = sums(entries);
  if (json) print(`${JSON.stringify({ folder, removed: clear !== undefined, kinds }, null, 2)}\n`);
  else if (clear !== undefined) print(removedText(kinds, folder));
  else await show(kinds, folder, older);
}

function daysOf(text = '0'): number {
  const days = Number(text);
  if (text.trim() === '' || !Number.isFinite(days) || days < 0)
    throw new UserError(`--older takes a number of days from 0, got ${text}`);
  return days;
}

type Sum = Pick<CacheEntry, 'kind' | 'files' | 'bytes'> & { used: string };

/** Entries of each kind together. */
function sums(entries: readonly CacheEntry[]): Sum[] {
  return (Object.keys(meanings) as CacheKind[]).flatMap((kind) => {
    const own = entries.filter((entry) => entry.kind === kind);
    const used = own.reduce((last, entry) => Math.max(last, entry.used), 0);
    return own.length === 0 ? [] : [{ kind, ...totalOf(own), used: new Date(used).toISOString() }];
  });
}

async function show(kinds: readonly Sum[], folder: string, older: string | undefined): Promise<void> {
  const { formatTable } = await import('@hidden-schema/base/tables');
  const which = older === undefined ? '' : ` that was not used for ${older} days`;
  if (kinds.length === 0) return print(`${folder} holds nothing${which}\n`);
  const rowOf = (
    kind: string,
    { files, bytes }: Pick<Sum, 'files' | 'bytes'>,
    used: string,
    what: string,
  ) => [...[kind, files, megabytes(bytes), used.slice(0, 10), what]];
  const rows = kinds.map((sum) => rowOf(sum.kind, sum, sum.used, meanings[sum.kind]));
  const columns = [
    ...[{ title: 'kind' }, { title: 'files' }, { title: 'size', align: 'right' as const }],
    ...[{ title: 'last used', align: 'left' as const }, { title: 'what' }],
  ];
  const table = formatTable(columns, [...rows, rowOf('all', totalOf(kinds), '', '')], 'terminal');
  print(`${folder}${which === '' ? '' : `, what${which.slice(5)}`}\n${table}`);
}

function removedText(kinds: readonly Sum[], folder: string): string {
  if (kinds.length === 0) return `nothing to remove in ${folder}\n`;
  const { files, bytes } = totalOf(kinds);
  const parts = kinds.map((sum) => `${sum.kind} ${megabytes(sum.bytes)}`).join(', ');
  return `removed ${files} ${files === 1 ? 'file' : 'files'} from ${folder}, ${megabytes(bytes)} freed: ${parts}\n`;
}

const totalOf = (all: readonly Pick<Sum, 'files' | 'bytes'>[]): { files: number; bytes: number } => ({
  files: all.reduce((sum, { files }) => sum + files, 0),
  bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
});

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
