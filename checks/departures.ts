// node --import tsx checks/departures.ts           fails where docs/research/departures.md does not say what the settings are
// node --import tsx checks/departures.ts --write   writes the tables into it
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { languageConfigSchema } from '../packages/hsn/src/config/language.ts';
import { syntheticOptions } from '../packages/hsn/src/config/network.ts';
import { loadConfig, type RunConfig, settingValues } from '../packages/hsn/src/config/settings.ts';
import { reasoningConfigSchema } from '../packages/hsn/src/config/tuples.ts';
import { notSaid, presetDepartures, reasons } from './departure-reasons.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const document = 'docs/research/departures.md';
const [begin, end] = ['<!-- settings: begin -->', '<!-- settings: end -->'];

interface Kind {
  title: string;
  /** The files that say what the paper says, and where there are some, what the authors' files say. */
  paper: string;
  authors?: string;
  defaults: RunConfig;
  experiments: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    title: 'Synthetic experiment',
    paper: 'synthetic/paper-barabasi.yaml',
    authors: 'synthetic/authors-barabasi.yaml',
    defaults: syntheticOptions.parse({}),
    experiments: ['synthetic/barabasi.yaml', 'synthetic/quick-paper-barabasi.yaml'],
  },
  {
    title: 'Language experiments',
    paper: 'language/paper-ptb-50-5.yaml',
    authors: 'language/authors-ptb-50-5.yaml',
    defaults: languageConfigSchema.parse({ model: 'language' }),
    experiments: ['language/yelp-50-5.yaml', 'language/ptb-50-5.yaml'],
  },
  {
    title: 'Tuples (Section 6)',
    paper: 'reasoning/paper-atomic-50-20.yaml',
    defaults: reasoningConfigSchema.parse({ model: 'reasoning' }),
    experiments: ['reasoning/atomic-50-20.yaml', 'reasoning/atomic-100-8.yaml'],
  },
];

const settingsOf = (file: string): Record<string, string> =>
  settingValues(loadConfig(fs.readFileSync(path.join(root, 'experiments', file), 'utf8'), file));

/** Settings that say nothing of the method: what is written down, and how often. */
const aside = /^(seed|checkpoints\.|training\.logEvery$)/;

/** A row for each setting in which the paper, our default or an experiment differ, with the reason. */
function tableOf({ title, paper, authors, defaults, experiments }: Kind): string[] {
  const theirs = authors === undefined ? [] : [settingsOf(authors)];
  const columns = [settingsOf(paper), ...theirs, settingValues(defaults), ...experiments.map(settingsOf)];
  const names = [...new Set(columns.flatMap((column) => Object.keys(column)))].filter(
    (name) => !aside.test(name),
  );
  const missing: string[] = [];
  const rows = names.flatMap((name) => {
    const values = columns.map((column) => column[name] ?? '–');
    if (new Set(values).size === 1) return [];
    const kind = defaults.model;
    const reason = reasons[`${kind} ${name}`] ?? reasons[name];
    if (reason === undefined) {
      missing.push(`${kind} ${name} (${values.join(', ')})`);
      return [];
    }
    const [first, ...rest] = values;
    const unsaid = notSaid.has(name) || notSaid.has(`${kind} ${name}`);
    return [[`\`${name}\``, unsaid ? `${first} (not said)` : first, ...rest, reason]];
  });
  if (missing.length > 0)
    throw new Error(`differ without a reason in checks/departure-reasons.ts: ${missing.join('; ')}`);
  const head = [
    'setting',
    'paper',
    ...(authors === undefined ? [] : ['authors']),
    'our default',
    ...experiments.map((file) => `\`${path.basename(file)}\``),
    'why',
  ];
  return [`### ${title}`, '', line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

const line = (cells: readonly (string | undefined)[]): string => `| ${cells.join(' | ')} |`;

/** Where a preset `paper` is not the paper's letter. */
function lettersTable(): string[] {
  const head = ['files', 'setting', 'printed', 'preset', 'why'];
  const rows = presetDepartures.map(({ files, setting, printed, value, why }) =>
    line([files, `\`${setting}\``, printed, value, why]),
  );
  return [
    "### Presets `paper` that are not the paper's letter",
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows,
    '',
  ];
}

/** The tables as they stand in the document. */
export function departureTables(): string {
  return [...kinds.flatMap(tableOf), ...lettersTable()].join('\n');
}

/** The document with the tables of now. */
export function departuresPage(): { now: string; then: string } {
  const then = fs.readFileSync(path.join(root, document), 'utf8');
  const [from, to] = [then.indexOf(begin), then.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${document} has no place for tables: ${begin} and ${end}`);
  return { then, now: `${then.slice(0, from + begin.length)}\n\n${departureTables()}\n${then.slice(to)}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { now, then } = departuresPage();
  if (process.argv.includes('--write')) fs.writeFileSync(path.join(root, document), now);
  else if (now !== then) {
    process.stderr.write(
      `${document} is not what the settings are: node --import tsx checks/departures.ts --write\n`,
    );
    process.exitCode = 1;
  }
}
