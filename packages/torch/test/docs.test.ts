import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Labels of the paper's numbered equations in LaTeX's order; Eq. n is entry n - 1, null where it has none. */
const EQUATIONS: readonly (string | null)[] = [
  'eq:language_model',
  'eq:generative_model',
  'eq:prior_rw',
  'eq:transition_matrix_prior',
  'eq:full_posterior',
  'eq:transition_prob_matrix_q',
  'eq:attention',
  'eq:psa',
  'eq:posterior_rw_app',
  'eq:ELBO-supmat',
  'eq:kl-rws',
  'eq:marginal_walk',
  ...Array<null>(5).fill(null),
  'eq:mutual-info-identities',
  ...Array<null>(4).fill(null),
  'eq: mutual-info',
  ...Array<null>(4).fill(null),
  'eq:ELBO',
  'eq:MF',
  ...Array<null>(2).fill(null),
  'eq:kl-rws-mean-field',
  ...Array<null>(3).fill(null),
];

const TABLES = [
  'tab:synthetic',
  'tab:results_lm',
  'tab:atomic',
  'tab:graph_stats_LM_long_sup_mat',
  'tab:results_synthetic_sup_mat',
  'tab:results_LM_long_sup_mat',
  'tab:attn_kl',
  'tab:train_times',
  'tab:interpol-supmat-2',
  'tab:interpol-supmat-3',
];

const FIGURES = [
  'fig:model',
  'fig:degree_distribution',
  'fig:graph_yahoo',
  'fig:yahoo-50',
  'fig:yahoo-100',
  'fig:yelp',
  'fig:attn_avg',
  'fig:attn_by_head_layer1',
  'fig:attn_by_head_layer5',
  'fig:attn_by_head_layer12',
  'fig:degreedist',
];

const SECTIONS = ['1', '2', '3', '3.1', '3.2', '3.3', '4', '5', '6', '7'];
const APPENDICES = 'A B C C.1 C.2 D D.1 D.2 D.3 D.4 D.5 D.6 E E.1 E.2 E.3 F F.1 F.2 F.3 G H H.1 I'.split(' ');

function titleOf(kind: string, number: number, label: string | null): string {
  return label === null ? `${kind} ${number}` : `${kind} ${number} \`${label}\``;
}

/** Every piece of the paper that owes a row, as its row's first cell starts. */
const PIECES: readonly string[] = [
  ...EQUATIONS.map((label, i) => titleOf('Eq.', i + 1, label)),
  ...TABLES.map((label, i) => titleOf('Table', i + 1, label)),
  ...FIGURES.map((label, i) => titleOf('Figure', i + 1, label)),
  ...SECTIONS.map((number) => `Section ${number}`),
  ...APPENDICES.map((number) => `Appendix ${number}`),
  'Algorithm 1 `alg:model_training`',
];

const STATE = /^(done|in progress|none|(planned|missing) \([^()]+\))$/;
const HEADER = /^paper,what it says,function,test,command,code,result$/;
/** Nothing to show; why there is nothing; or a command, its date and machine, and figures. */
const RESULT = /^(–|never run: .{10,}|`[^`]+` \((\d{4}-\d\d-\d\d)[^();]*; [^()]+\): .*\d.*)$/;

interface Row {
  readonly paper: string;
  readonly code: string;
  readonly test: string;
  readonly state: string;
  readonly result: string;
  readonly text: string;
}

/** Rows of every table in the map; a row with a wrong number of cells is itself a problem. */
function readMap(markdown: string): { rows: Row[]; problems: string[] } {
  const rows: Row[] = [];
  const problems: string[] = [];
  for (const line of markdown.split('\n')) {
    const cells = line
      .trim()
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    if (!line.startsWith('|') || HEADER.test(cells.join()) || /^[|\s:-]+$/.test(line)) continue;
    if (cells.length !== 7) problems.push(`row has ${cells.length} cells, expected 7: ${line}`);
    const [paper = '', , code = '', test = '', , state = '', result = ''] = cells;
    rows.push({ paper, code, test, state, result, text: line });
  }
  return { rows, problems };
}

function backticked(markdown: string): string[] {
  return [...markdown.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
}

/** Backticked paths into the repository; patterns such as packages/<name>/src are not paths. */
function pathsIn(markdown: string): string[] {
  const own = /^(packages|paper|docs|fixtures|bench|experiments|\.ci)\/[^\s<>*{}…]*$/;
  return backticked(markdown).filter((code) => own.test(code));
}

/** `path` or `path#Name.method`: the file must exist and contain each of the names. */
function pathProblem(root: string, reference: string): string | null {
  const [path = '', names] = reference.split('#');
  const file = join(root, path);
  // The library's reference is made on demand.
  if (path === 'docs/reference/library') return null;
  if (!existsSync(file)) return `no such path: ${path}`;
  if (names === undefined) return null;
  const source = readFileSync(file, 'utf8');
  const missing = names.split('.').find((name) => !new RegExp(`\\b${name}\\b`).test(source));
  return missing === undefined ? null : `${path} does not contain ${missing}`;
}

function pathProblems(root: string, markdown: string): string[] {
  return pathsIn(markdown).flatMap((reference) => pathProblem(root, reference) ?? []);
}

/** A finished row must name its code and its test, and both must be there. */
function doneRowProblems(root: string, row: Row): string[] {
  const problems = pathProblems(root, row.text);
  if (pathsIn(row.code).length === 0) problems.push('done, but names no function');
  if (pathsIn(row.test).length === 0) problems.push('done, but names no test');
  return problems.map((problem) => `${row.paper}: ${problem}`);
}

/** A table or figure says what came out, or why nothing did; a result of a part that has no code is none. */
function resultProblems({ paper, state, result }: Row): string[] {
  if (!RESULT.test(result))
    return [`${paper}: a result is –, "never run: why", or \`command\` (date; machine): figures`];
  const [, , date] = RESULT.exec(result) ?? [];
  if (date !== undefined && state !== 'done' && state !== 'in progress')
    return [`${paper}: has a result, but its code is ${state}`];
  if (result === '–' && /^(Table|Figure (?!1 ))/.test(paper)) return [`${paper}: says nothing of its result`];
  return [];
}

function isRowOf(row: Row, piece: string): boolean {
  return row.paper === piece || row.paper.startsWith(`${piece} \``);
}

function mapProblems(root: string, markdown: string): string[] {
  const { rows, problems } = readMap(markdown);
  for (const row of rows) {
    if (!STATE.test(row.state)) problems.push(`${row.paper}: unknown state "${row.state}"`);
    if (row.state === 'done') problems.push(...doneRowProblems(root, row));
    problems.push(...resultProblems(row));
  }
  for (const piece of PIECES) {
    const count = rows.filter((row) => isRowOf(row, piece)).length;
    if (count !== 1) problems.push(`${piece}: expected one row, found ${count}`);
  }
  return problems;
}

/** Relative links of a page, resolved from the page's own folder; fenced code holds none. */
function linkProblems(root: string, page: string, markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)/g)].map((match) => match[1] ?? '');
  return targets
    .filter((target) => !/^([a-z][a-z+.-]*:|#|\/\/)/i.test(target))
    .map((target) => target.replace(/[#?].*$/, ''))
    .filter((target) => !existsSync(join(root, dirname(page), decodeURIComponent(target))))
    .map((target) => `broken link: ${target}`);
}

function scriptProblems(root: string, markdown: string): string[] {
  const manifest: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const names = [...markdown.matchAll(/\bnpm run (?:-s |--silent )?([a-z][\w:-]*)/g)].map((m) => m[1] ?? '');
  return names.filter((name) => !(name in manifest.scripts)).map((name) => `no npm script: ${name}`);
}

/** All that is wrong with one page. Unfinished rows of the map may name files still to come. */
function pageProblems(root: string, page: string): string[] {
  const markdown = readFileSync(join(root, page), 'utf8');
  const isMap = page === 'docs/paper-map.md';
  const prose = isMap ? markdown.replace(/^\|.*$/gm, '') : markdown;
  return [
    ...linkProblems(root, page, markdown),
    ...scriptProblems(root, markdown),
    ...pathProblems(root, prose),
    ...(isMap ? mapProblems(root, markdown) : []),
  ];
}

function pagesOf(root: string): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('reference/library'))
    .sort();
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)];
}

describe('the documentation of this repository', () => {
  it.each(pagesOf(ROOT))('%s names only what exists', (page) => {
    expect(pageProblems(ROOT, page)).toEqual([]);
  });

  it('maps all 35 numbered equations of the paper', () => {
    expect(EQUATIONS).toHaveLength(35);
    const { rows } = readMap(readFileSync(join(ROOT, 'docs/paper-map.md'), 'utf8'));
    expect(rows.filter((row) => row.paper.startsWith('Eq. '))).toHaveLength(35);
  });
});

describe('the check itself', () => {
  const row = (code: string, test: string, state: string, result = '–') =>
    `| Eq. 13 | words | ${code} | ${test} | – | ${state} | ${result} |`;
  const GOOD = '`packages/a/src/chain.ts#Walk.kl`';
  const TEST = '`packages/a/test/chain.test.ts`';
  let root = '';

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'docs-'));
    for (const folder of ['docs', 'packages/a/src', 'packages/a/test'])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{"scripts": {"demo": "true"}}');
    writeFileSync(join(root, 'packages/a/src/chain.ts'), 'export class Walk { kl() { return 0; } }\n');
    writeFileSync(join(root, 'packages/a/test/chain.test.ts'), '');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  /** Problems of a map of one row, without the pieces it cannot hold. */
  function rowProblems(line: string): string[] {
    return mapProblems(root, line).filter((problem) => !problem.includes('expected one row'));
  }

  it('accepts a finished row whose paths and names exist', () => {
    expect(rowProblems(row(GOOD, TEST, 'done'))).toEqual([]);
  });

  it.each([
    ['`packages/a/src/gone.ts`', TEST, 'done', 'Eq. 13: no such path: packages/a/src/gone.ts'],
    [GOOD, '`packages/a/test/gone.test.ts`', 'done', 'Eq. 13: no such path: packages/a/test/gone.test.ts'],
    [
      '`packages/a/src/chain.ts#Walk.sample`',
      TEST,
      'done',
      'Eq. 13: packages/a/src/chain.ts does not contain sample',
    ],
    ['–', TEST, 'done', 'Eq. 13: done, but names no function'],
    [GOOD, '–', 'done', 'Eq. 13: done, but names no test'],
    [GOOD, TEST, 'finished', 'Eq. 13: unknown state "finished"'],
  ])('refuses %s tested by %s, %s', (code, test, state, problem) => {
    expect(rowProblems(row(code, test, state))).toEqual([problem]);
  });

  const form = 'Eq. 13: a result is –, "never run: why", or `command` (date; machine): figures';
  it.each([
    ['–', []],
    ['never run: it needs a graphics card', []],
    ['`hsn eval run` (2026-11-16, earlier session; two cores): perplexity 41.7', []],
    ['never run', [form]],
    ['done', [form]],
    ['perplexity 41.7', [form]],
    ['`hsn eval run` (two cores): perplexity 41.7', [form]],
    ['`hsn eval run` (2026-11-16; two cores): good', [form]],
  ])('of the result %s says %s', (result, problems) => {
    expect(rowProblems(row(GOOD, TEST, 'done', result))).toEqual(problems);
  });

  it('wants a word on the result of every table, and none without code', () => {
    const table = row(GOOD, TEST, 'done').replace('Eq. 13', 'Table 4');
    expect(rowProblems(table)).toEqual(['Table 4: says nothing of its result']);
    const ran = '`hsn x` (2026-11-16; two cores): 3';
    expect(rowProblems(row('–', '–', 'missing (all of it)', ran))).toEqual([
      'Eq. 13: has a result, but its code is missing (all of it)',
    ]);
  });

  it('lets an unfinished row name what is still to come', () => {
    expect(rowProblems(row('`packages/a/src/gone.ts`', '–', 'planned (later)'))).toEqual([]);
  });

  it('misses no equation, label or duplicate', () => {
    const line = row(GOOD, TEST, 'done');
    expect(mapProblems(root, line)).not.toContain('Eq. 13: expected one row, found 0');
    expect(mapProblems(root, line)).toContain('Eq. 14: expected one row, found 0');
    expect(mapProblems(root, `${line}\n${line}`)).toContain('Eq. 13: expected one row, found 2');
    const mislabelled = line.replace('Eq. 13', 'Eq. 28 `eq:elbo`');
    expect(mapProblems(root, mislabelled)).toContain('Eq. 28 `eq:ELBO`: expected one row, found 0');
  });

  it('finds broken links and absent scripts, and leaves other addresses alone', () => {
    const page = '[a](../package.json#x) [b](gone.md) [c](https://example.org) [d](#here) `[e](f)`';
    expect(linkProblems(root, 'docs/page.md', page)).toEqual(['broken link: gone.md']);
    expect(scriptProblems(root, '`npm run -s demo -- x`, `npm run dance`')).toEqual(['no npm script: dance']);
    expect(pathProblems(root, '`packages/<name>/src` and `packages/b/c.ts`')).toEqual([
      'no such path: packages/b/c.ts',
    ]);
  });
});
