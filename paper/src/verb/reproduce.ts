import { deliver } from '@hidden-schema/cli/analysis';
import type { Results } from '@hidden-schema/studies/drawing/results';
import type { Command } from 'commander';
import { checkFlags, presetOf, reproducible } from './reproduce-flags.ts';
import { reproduced } from './reproduce-named.ts';

export interface ReproduceFlags {
  seeds?: string;
  paperSeeds?: string;
  baselineSeeds?: string;
  quick?: boolean;
  only?: string;
  corpus?: string;
  steps?: string;
  paperSteps?: string;
  lstmSteps?: string;
  sentences?: string;
  priors?: string;
  settings?: string;
  set?: string[];
  models?: string;
  systems?: string;
  run?: string;
  words?: string;
  pairs?: string;
  seed?: string;
  symbols?: string;
  length?: string;
  limit?: string;
  walks?: string;
  graphs?: string;
  peers?: string;
  judge?: string;
  referenceCorpus?: string;
  subsamples?: string;
  json?: boolean;
  write?: string | true;
  out: string;
}

/** A table or figure of the paper, ours beside theirs. */
export interface Reproduced extends Results {
  title: string;
  /** What to know when reading it. */
  text?: string;
  /** Of the trainings that it is made of. */
  seeds?: readonly number[];
}

const examples = `
Examples:
  $ hsn reproduce all --quick --out pages                 every table and figure on small data, and one page of them
  $ hsn reproduce table1 --quick                          minutes
  $ hsn reproduce table1 --seeds 10 --paper-seeds 2       an hour or two
  $ hsn reproduce table1 --corpus barabasi=DIR,erdos=DIR  on the authors' own data (hsn data authors)
  $ hsn reproduce table1 --settings paper --paper-steps 54688 --only barabasi      appendix E as written, hours
  $ hsn reproduce table2 --corpus ptb=DIR,yelp=FILE --seeds 5 --models alone,50-5   perplexity and information of texts
  $ hsn reproduce table2 --corpus ptb=DIR --settings paper --set encoder.name=DIR --set decoder.name=DIR
  $ hsn reproduce table2 --systems alone,hsn-5,optimus-a,ivae,vq --quick --corpus yelp=FILE   HSN beside its rivals
  $ hsn reproduce table3 --quick --corpus atomic          commonsense reasoning on ATOMIC tuples
  $ hsn reproduce table4 --run yelp,ptb                   statistics of the graphs of trained runs
  $ hsn reproduce figure3 --quick                         trains a small run on drawn sentences first
  $ hsn reproduce table7 --run yelp --words good,bad,great
  $ hsn reproduce curves --quick                          recovery against data, as figures
  $ hsn reproduce topics --corpus news=news.tsv           symbols of your own texts, beside k-means, NMF and LDA
  $ hsn reproduce topics --corpus news=news.tsv --judge gte-small --peers DIR/bin/python --subsamples 2

Of graphs whose truth is known:
  table1, table5    "Results on ground-truth random graphs inference", and the same for each prior with both KLs
Of texts, trained for the table; runs in --out that are finished are kept:
  table2, table6    perplexity and mutual information; mean and deviation over --seeds
  table3            BLEU-2 and BERTScore of objects
From runs given by --run, or from one trained now on --corpus or on drawn sentences:
  table4            "Statistic of inferred graphs for all datasets"
  table7            "Kullback-Leibler divergence between the distributions of most attended symbols"
  table8            "Average training times"
  table9, table10   "Interpolation between four random instances"
  figure2           "Empirical degree distributions of inferred schema networks" (500 graphs)
  figure3           "Schema distributions inferred from HSN(50, 5) for four subsets"
  figure4 to 6      schema distributions of all labels
  figure7 to 10     most attended symbols, heads averaged and head by head
  figure11          degree distributions of all runs, and of their largest components

Of texts, with no training: topics finds symbols in the vectors of a frozen encoder (kept in the cache) and ranks the words
of HSN, k-means, NMF and LDA by the same two scores, PMI and c-TF-IDF, so that models are compared and not scores. With --peers
BERTopic (defaults and k-means), KeyNMF, Topeax, SensTopic, GMM and FASTopic join them. --judge names an encoder that took no part in
any model: fit of symbols to texts, and coherence of words by their vectors. A file has a text a line, or label<TAB>text; labels are compared with and never learned from.
`;

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export function register(program: Command): void {
  const command = program
    .command('reproduce')
    .summary('tables and figures of the paper, ours beside theirs')
    .description('Train what a table of the paper compares, and print our figures beside the published ones.')
    .argument('<name>', `one of ${reproducible.join(', ')}`)
    .option('--quick', 'small models on few sentences and steps; all: required but for those with days')
    .option('--seeds <n>', 'seeds for each of our rows (default: table1 10, table2 1, topics 3)');
  addTableOptions(command);
  addRunOptions(command);
  command
    .option('--out <folder>', 'where tables are written', 'reproduction')
    .option(
      '--write [folder]',
      'keep tables and drawings as results, with how they were made (default folder: results of the repository)',
    )
    .addHelpText('after', examples)
    .action(reproduce);
}

/** What the tables of trainings take. */
function addTableOptions(command: Command): void {
  command
    .option('--paper-seeds <n>', "table1: seeds for the rows with the paper's settings (default: as --seeds)")
    .option('--baseline-seeds <n>', 'table1: seeds of LSTM, counting and Baum-Welch (default: as --seeds)')
    .option('--steps <n>', 'training steps of our rows (default: table1 200, table2 3000)')
    .option('--paper-steps <n>', "table1: training steps with the paper's settings (default: 1000)")
    .option('--lstm-steps <n>', 'table1: training steps of the LSTM (default: as ours, but at least 300)')
    .option('--sentences <n>', 'table1: sentences of each drawn corpus (default: 100000)')
    .option('--only <names>', 'table1: of barabasi, erdos, shared; all: of its pieces; separated by commas')
    .option('--priors <list>', "table1: prior link probabilities (default: Table 5's, 0.1,0.2 and 0.5,0.6)")
    .option(
      '--settings <which>',
      'paper: the appendices to the letter; authors: their program (not table3); else table1 has near, the others ours',
    )
    .option('--models <list>', 'table2: of alone, 50-5, 50-20, 100-5, 100-20 (default: all)')
    .option(
      '--systems <names>',
      'table2: all, or some of its systems, at equal size and steps (docs/research/rivals.md)',
    )
    .option(
      '--set <key=value>',
      'table2, table3, all (for both): change a setting; may be given again',
      collect,
    )
    .option(
      '--corpus <where>',
      "table1: barabasi=DIR,erdos=DIR, the authors' data in place of drawn ones; table2, all: ptb=…,yahoo=…,yelp=…; table3: ATOMIC; topics: NAME=FILE,NAME=FILE; of runs: texts to train on",
    );
}

/** What is made of runs, and of topics. */
function addRunOptions(command: Command): void {
  command
    .option('--run <folders>', 'of runs: trained ones, with commas between, in place of training')
    .option('--words <list>', 'table7, figure7: words to compare (default: good,bad,great)')
    .option('--pairs <n>', 'table9: pairs of sentences of each run (default: 4)')
    .option('--seed <n>', 'table9: draws the pairs (default: 1)')
    .option('--symbols <n>', 'topics: symbols, and topics of the peers (default: 50)')
    .option('--length <n>', 'topics: steps of a walk (default: 5)')
    .option(
      '--limit <n>',
      'topics: reads the first so many texts of each corpus; table2: test sentences of its figures (default: 2000)',
    )
    .option(
      '--walks <n>',
      'table2: walks a sentence and graph that perplexity is estimated from (default: 100)',
    )
    .option('--graphs <n>', 'table2: graphs of it (default: 10)')
    .option('--peers <python>', 'topics: a Python with BERTopic and Turftopic, whose models join the table')
    .option(
      '--judge <encoder>',
      'topics: a folder or package of another encoder, which measures fit and words',
    )
    .option('--reference-corpus <file>', 'topics: other texts, in which words are looked up')
    .option('--subsamples <n>', 'topics: fits to so many random 80 % of the texts, from 2 on (default: none)')
    .option('--json', 'topics and of runs: print JSON');
}

async function reproduce(name: string, flags: ReproduceFlags, command: Command): Promise<void> {
  const made = await checkFlags(name, flags);
  const { checkRecordable, commandOf, recordResults } = await import('./record-results.ts');
  const { write } = flags;
  if (write !== undefined) await checkRecordable();
  const record = async (result: Reproduced | undefined) => {
    if (write === undefined || result === undefined) return;
    await recordResults(result, write, { command: commandOf(command, name), preset: presetOf(made, flags) });
  };
  if (made === 'all') await (await import('./reproduce-all.ts')).reproduceAll(flags, record);
  else await record(await piece(made, flags));
}

/** Makes, prints and writes one piece; nothing where it was stopped. */
async function piece(made: string, flags: ReproduceFlags): Promise<Reproduced | undefined> {
  if (made === 'curves') return (await import('./reproduce-curves.ts')).reproduceCurves(flags);
  if (made === 'table3') return (await import('./reproduce-table3.ts')).reproduceTable3(flags);
  if (flags.systems !== undefined) return (await import('./reproduce-systems.ts')).reproduceSystems(flags);
  if (made === 'topics') return (await import('./reproduce-topics.ts')).reproduceTopics(flags);
  const result = await reproduced(made, flags);
  await deliver('', flags, result);
  return result;
}
