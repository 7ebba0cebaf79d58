// node --import tsx checks/departures.ts           fails where docs/research/departures.md does not say what the settings are
// node --import tsx checks/departures.ts --write   writes the tables into it
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { languageConfigSchema } from '../packages/hsn/src/config/language.ts';
import { syntheticOptions } from '../packages/hsn/src/config/network.ts';
import { loadConfig, type RunConfig, settingValues } from '../packages/hsn/src/config/settings.ts';
import { notSaid, reasons } from './departure-reasons.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const document = 'docs/research/departures.md';
const [begin, end] = ['<!-- settings: begin -->', '<!-- settings: end -->'];

interface Kind {
  title: string;
  paper: string;
  defaults: RunConfig;
  experiments: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    title: 'Synthetic experiment',
    paper: 'synthetic/paper-barabasi.yaml',
    defaults: syntheticOptions.parse({}),
    experiments: ['synthetic/barabasi.yaml', 'synthetic/quick-paper-barabasi.yaml'],
  },
  {
    title: 'Language experiments',
    paper: 'language/paper-50-5.yaml',
    defaults: languageConfigSchema.parse({ model: 'language' }),
    experiments: ['language/yelp-50-5.yaml', 'language/ptb-50-5.yaml'],
  },
];

const settingsOf = (file: string): Record<string, string> =>
  settingValues(loadConfig(fs.readFileSync(path.join(root, 'experiments', file), 'utf8'), file));

/** Settings that say nothing of the method: what is written down, and how often. */
const aside = /^(seed|checkpoints\.|training\.(logEvery|evaluateEvery)$)/;

/** A row for each setting in which the paper, our default or an experiment differ, with the reason. */
function tableOf({ title, paper, defaults, experiments }: Kind): string[] {
  const columns = [settingsOf(paper), settingValues(defaults), ...experiments.map(settingsOf)];
  const names = [...new Set(columns.flatMap((column) => Object.keys(column)))].filter(
    (name) => !aside.test(name),
  );
  const rows = names.flatMap((name) => {
    const values = columns.map((column) => column[name] ?? '–');
    if (new Set(values).size === 1) return [];
    const kind = defaults.model;
    const reason = reasons[`${kind} ${name}`] ?? reasons[name];
    if (reason === undefined)
      throw new Error(
        `${kind} ${name} differs (${values.join(', ')}): give its reason in checks/departure-reasons.ts`,
      );
    const [first, ...rest] = values;
    return [[`\`${name}\``, notSaid.has(name) ? `${first} (not said)` : first, ...rest, reason]];
  });
  const head = [
    'setting',
    'paper',
    'our default',
    ...experiments.map((file) => `\`${path.basename(file)}\``),
    'why',
  ];
  return [`### ${title}`, '', line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

const line = (cells: readonly (string | undefined)[]): string => `| ${cells.join(' | ')} |`;

/** The tables as they stand in the document. */
export function departureTables(): string {
  return kinds.flatMap(tableOf).join('\n');
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
