import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Table1Options, Table1Row } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { checkFlags, reproducible } from './reproduce-flags.ts';
import { live, print } from './terminal.ts';

export interface ReproduceFlags {
  seeds?: string;
  paperSeeds?: string;
  quick?: boolean;
  only?: string;
  corpus?: string;
  steps?: string;
  paperSteps?: string;
  lstmSteps?: string;
  sentences?: string;
  systems?: string;
  set?: string[];
  run?: string;
  words?: string;
  symbols?: string;
  length?: string;
  limit?: string;
  peers?: string;
  json?: boolean;
  out: string;
}

const examples = `
Examples:
  $ hsn reproduce table1 --quick                          minutes
  $ hsn reproduce table1 --seeds 10 --paper-seeds 2       an hour or two
  $ hsn reproduce table1 --only barabasi --corpus DIR     on the authors' own Barabási data
  $ hsn reproduce curves --quick                          recovery against data, as figures
  $ hsn reproduce table-graph --run yelp,ptb              statistics of the graphs of trained runs
  $ hsn reproduce figure4 --quick                         trains a small run on drawn sentences first
  $ hsn reproduce table-attention --run yelp --words good,bad,great
  $ hsn reproduce table2 --quick --corpus ptb=DIR,yelp=FILE   perplexity and information of texts
  $ hsn reproduce table2 --systems alone,hsn-5,optimus-a,ivae,vq --quick --corpus yelp=FILE   HSN beside its rivals
  $ hsn reproduce table3 --quick --corpus atomic          commonsense reasoning on ATOMIC tuples
  $ hsn reproduce topics --corpus news=news.tsv            symbols of your own texts, beside k-means, NMF and LDA

Table 1 and its supplement: ours beside the paper's, with an LSTM, counting of token pairs and Baum-Welch.
Written to the folder --out as table1.md and table1.json too.

Of natural language, from runs given by --run, or from one trained now on --corpus or on drawn sentences:
  figure3          "Empirical degree distributions of inferred schema networks against … Erdős–Rényi" (500 graphs)
  figure4          "Schema distributions inferred from HSN(50, 5) for four subsets"
  table-graph      "Statistic of inferred graphs for all datasets"
  table-attention  "Kullback-Leibler divergence between the distributions of most attended symbols"
  interpolations   "Interpolation between four random instances"

Of texts, with no training: topics finds symbols in the vectors of a frozen encoder (kept in the cache) and ranks the words
of HSN, k-means, NMF and LDA by the same two scores, PMI and c-TF-IDF, so that models are compared and not scores. With --peers
BERTopic and KeyNMF join them. A file has a text a line, or label<TAB>text; labels are compared with and never learned from.
`;

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export function register(program: Command): void {
  program
    .command('reproduce')
    .summary('a table of the paper, ours beside theirs')
    .description('Train what a table of the paper compares, and print our figures beside the published ones.')
    .argument('<name>', `one of ${reproducible.join(', ')}`)
    .option('--quick', 'two seeds on fewer sentences and steps')
    .option('--seeds <n>', 'seeds for each of our rows (default: 10; topics: 3)')
    .option('--paper-seeds <n>', "seeds for the rows with the paper's settings (default: as --seeds)")
    .option('--steps <n>', 'training steps of our rows (default: 200)')
    .option('--paper-steps <n>', "training steps with the paper's settings (default: 1000)")
    .option('--lstm-steps <n>', 'training steps of the LSTM (default: as ours, but at least 300)')
    .option('--sentences <n>', 'sentences of each drawn corpus (default: 100000)')
    .option('--only <names>', 'of barabasi, erdos, shared; separated by commas')
    .option(
      '--corpus <folder>',
      "table1: the authors' Barabási data in place of a drawn corpus; table2: ptb=…,yahoo=…,yelp=…; table3: ATOMIC; topics: NAME=FILE,NAME=FILE; of language: texts to train on",
    )
    .option(
      '--systems <names>',
      'table2: all, or some of its systems, at equal size and steps (docs/rivals.md)',
    )
    .option('--set <key=value>', 'table2 with --systems: a setting of all of them', collect)
    .option('--run <folders>', 'of language: trained runs, with commas between, in place of training')
    .option('--words <list>', 'table-attention: words to compare (default: good,bad,great)')
    .option('--symbols <n>', 'topics: symbols, and topics of the peers (default: 50)')
    .option('--length <n>', 'topics: steps of a walk (default: 5)')
    .option('--limit <n>', 'topics: reads the first so many texts of each corpus')
    .option('--peers <python>', 'topics: a Python with BERTopic and Turftopic, whose models join the table')
    .option('--json', 'topics and of language: print JSON')
    .option('--out <folder>', 'where tables are written', 'reproduction')
    .addHelpText('after', examples)
    .action(reproduce);
}

async function reproduce(name: string, flags: ReproduceFlags): Promise<void> {
  await checkFlags(name, flags);
  if (name === 'table1') return reproduceTable1(flags);
  if (name === 'curves') return (await import('./reproduce-curves.ts')).reproduceCurves(flags);
  if (flags.systems !== undefined) return (await import('./reproduce-systems.ts')).reproduceSystems(flags);
  if (name === 'table2') return (await import('./reproduce-table2.ts')).reproduceTable2(flags);
  if (name === 'table3') return (await import('./reproduce-table3.ts')).reproduceTable3(flags);
  if (name === 'topics') return (await import('./reproduce-topics.ts')).reproduceTopics(flags);
  return (await import('./reproduce-language.ts')).reproduceLanguage(name, flags);
}

async function reproduceTable1(flags: ReproduceFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { Progress } = await import('@hidden-schema/hsn');
  const { table1, table1Text } = await import('@hidden-schema/studies');
  const number = (text: string | undefined, fallback: number, flag: string): number => {
    const value = text === undefined ? fallback : Number(text);
    if (!Number.isInteger(value) || value < 0)
      throw new UserError(`${flag} takes a whole number, got ${text}`);
    return value;
  };
  const seeds = number(flags.seeds, flags.quick ? 2 : 10, '--seeds');
  const options: Table1Options = {
    seeds,
    paperSeeds: number(flags.paperSeeds, flags.quick ? 1 : seeds, '--paper-seeds'),
    sentences: number(flags.sentences, flags.quick ? 20_000 : 100_000, '--sentences'),
    steps: number(flags.steps, flags.quick ? 100 : 200, '--steps'),
    paperSteps: number(flags.paperSteps, flags.quick ? 200 : 1000, '--paper-steps'),
    ...(flags.lstmSteps ? { lstmSteps: number(flags.lstmSteps, 300, '--lstm-steps') } : {}),
    ...(flags.only ? { only: chosen(flags.only, UserError) } : {}),
    ...(flags.corpus ? { barabasiCorpus: flags.corpus } : {}),
  };
  const rows: Table1Row[] = [];
  const graphs = options.only ?? ['barabasi', 'erdos', 'shared'];
  const published = graphs.filter((graph) => graph !== 'shared').length;
  const total = graphs.length * (options.seeds + 3) + published * options.paperSeeds;
  const progress = new Progress({ label: 'table1', total, unit: 'models', output: live });
  await table1({
    ...options,
    onProgress: (text) => progress.update(rows.length, { now: text }),
    onRow: (row) => {
      progress.update(rows.push(row));
      save(flags.out, rows, table1Text(rows, 'markdown'));
    },
  });
  progress.finish();
  print(`${table1Text(rows, 'terminal')}\n${caption}written to ${path.join(flags.out, 'table1.md')}\n`);
}

const caption = `‖·‖ are Frobenius norms over pairs of symbols, of link probabilities for HSN and of called links for the baselines;
NLL is in the authors' convention (bag probabilities as logits), "NLL true" the likelihood itself. "exact" counts the
seeds that found every link and no other. The paper's rows were trained for 200 epochs.
`;

/** The tables so far: a run that is stopped keeps what it has. */
function save(folder: string, rows: readonly Table1Row[], markdown: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'table1.md'), `${markdown}\n${caption}`);
  writeFileSync(path.join(folder, 'table1.json'), `${JSON.stringify(rows, null, 2)}\n`);
}

function chosen(text: string, Fault: new (message: string) => Error): NonNullable<Table1Options['only']> {
  return text.split(',').map((name) => {
    if (name === 'barabasi' || name === 'erdos' || name === 'shared') return name;
    throw new Fault(`--only takes barabasi, erdos and shared, got "${name}"`);
  });
}
