import { UserError } from '@hidden-schema/base';
import type * as Hsn from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { print } from './terminal.ts';

/** What this verb needs of the library; loaded when the verb runs, so that help stays instant. */
type Library = Pick<
  typeof Hsn,
  | 'faultMessage'
  | 'GRAPH_DEFAULTS'
  | 'SYNTHETIC_DEFAULTS'
  | 'syntheticFaults'
  | 'WORD_DEFAULTS'
  | 'wordFaults'
  | 'writeSyntheticCorpus'
  | 'writeWordsCorpus'
>;

/** The files of the library that draw corpora. */
async function library(): Promise<Library> {
  const faults = await import('@hidden-schema/hsn/tasks/synthetic/corpus/faults');
  const graphs = await import('@hidden-schema/hsn/tasks/synthetic/corpus/graphs');
  const synthetic = await import('@hidden-schema/hsn/tasks/synthetic/corpus/synthetic');
  const words = await import('@hidden-schema/hsn/tasks/synthetic/corpus/words');
  const writer = await import('@hidden-schema/hsn/tasks/synthetic/corpus/writer');
  return { ...faults, ...graphs, ...synthetic, ...words, ...writer };
}

interface Flags {
  out: string;
  disjoint?: true;
  force?: true;
  words?: true;
  [flag: string]: string | true | undefined;
}

const EXAMPLES = `
Examples:
  $ hsn synth --out barabasi --length 11
      the paper's Barabási corpus: 100 nodes, 3 edges from each new one, 100000 sentences
  $ hsn synth --graph erdos --probability 0.5 --out erdos
      the paper's Erdős corpus
  $ hsn synth --nodes 100 --tokens 120 --bag 2 --length 11 --out shared
      bags that share most of their tokens, so that a token alone does not tell its node
  $ hsn synth --graph blocks --nodes 60 --blocks 3 --disjoint --sentences 5000 --out blocks
  $ hsn synth --words --out words
      readable English: 36 everyday topics in 6 communities, a walk of 5 topics a sentence, labels known

The folder holds train, valid and test sentences (train.txt …), the true walk of each (train_walks.txt …),
the true graph (adjacency.txt, edges.tsv), the bags (node_tokens.tsv) and the settings (corpus.json).
With --words, train.tsv … hold label<TAB>text, and node_phrases.tsv the community, topic and phrases of each node.
The same settings and seed give the same files.`;

export function register(
  program: Command,
  load: () => Promise<Library> = library,
  show: (text: string) => void = (text) => print(`${text}\n`),
): void {
  program
    .command('synth')
    .summary('draw a graph and a corpus of walks on it')
    .description(
      'Draw a random graph, a bag of tokens for each node, and sentences that are random walks on it.',
    )
    .requiredOption('--out <dir>', 'folder to write to')
    .option('--words', 'readable English from topics of everyday life, with labels')
    .option('--graph <kind>', 'barabasi, erdos, watts or blocks (default: barabasi; blocks with --words)')
    .option('--nodes <n>', 'nodes of the graph (default: 100; 36 with --words, the most there)')
    .option('--tokens <n>', 'words of the vocabulary, random Latin 3-tuples (default: 1000)')
    .option('--bag <n>', 'tokens of each node, equally likely (default: 2)')
    .option('--disjoint', 'no token in two bags')
    .option('--length <n>', 'tokens of a sentence, or phrases with --words (default: 10; 5)')
    .option('--sentences <n>', 'sentences in all (default: 100000; 20000 with --words)')
    .option('--split <shares>', 'shares of train, valid, test (default: 70,20,10; 80,10,10)')
    .option('--seed <n>', 'seed of all draws (default: 1)')
    .option('--attach <n>', 'barabasi: edges from each new node (default: 3)')
    .option('--probability <p>', 'erdos: probability of an edge (default: 0.5)')
    .option('--neighbours <n>', 'watts: nearest nodes on the ring, even (default: 6)')
    .option('--rewire <p>', 'watts: probability that an edge is moved (default: 0.1)')
    .option('--blocks <n>', 'blocks: number of communities (default: 4; 6 with --words)')
    .option('--inside <p>', 'blocks: probability of an edge within one (default: 0.3; 0.7)')
    .option('--outside <p>', 'blocks: probability of an edge between two (default: 0.01; 0.02)')
    .option('--force', 'replace a corpus that is already there')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => show(synth(flags, await load())));
}

/** Draws and writes the corpus; the summary to show. */
function synth(flags: Flags, hsn: Library): string {
  if (flags.words) return synthWords(flags, hsn);
  const { settings, faults } = readFlags(flags, hsn);
  if (faults.length > 0) throw new UserError(hsn.faultMessage(faults, '--'));
  return summary(hsn.writeSyntheticCorpus(settings, flags.out, { force: flags.force === true }), flags.out);
}

/** Draws and writes a corpus of readable sentences. */
function synthWords(flags: Flags, hsn: Library): string {
  const faults: Hsn.Fault[] = [];
  for (const setting of ['tokens', 'bag', 'disjoint']) {
    if (flags[setting] !== undefined)
      faults.push({ setting, text: 'belongs to random tokens, not to --words; leave it out' });
  }
  const settings: Hsn.WordSettings = sharedSettings(flags, hsn, hsn.WORD_DEFAULTS, faults);
  addFaults(faults, hsn.wordFaults(settings), flags);
  if (faults.length > 0) throw new UserError(hsn.faultMessage(faults, '--'));
  return wordsSummary(hsn.writeWordsCorpus(settings, flags.out, { force: flags.force === true }), flags.out);
}

/** A flag's number; the fallback, and a fault, where it is none. */
function numberOf(setting: string, text: string, fallback: number, faults: Hsn.Fault[]): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isNaN(value)) return value;
  faults.push({ setting, text: `expected a number, got ${JSON.stringify(text)}` });
  return fallback;
}

/** Reads numbers from flags; a setting whose flag is not there has its default. */
function numbersOf<Setting extends keyof Flags & string>(
  flags: Flags,
  defaults: Readonly<Record<Setting, number>>,
  faults: Hsn.Fault[],
): (setting: Setting) => number {
  return (setting) => {
    const text = flags[setting];
    return typeof text === 'string' ? numberOf(setting, text, defaults[setting], faults) : defaults[setting];
  };
}

/** Settings that both kinds of corpus have. */
function sharedSettings(
  flags: Flags,
  hsn: Library,
  defaults: Hsn.WordSettings,
  faults: Hsn.Fault[],
): Hsn.WordSettings {
  const number = numbersOf<'nodes' | 'length' | 'sentences' | 'seed'>(flags, defaults, faults);
  const graphOptions: Hsn.GraphOptions = {};
  for (const [name, fallback] of Object.entries(hsn.GRAPH_DEFAULTS) as [Hsn.GraphParameter, number][]) {
    const text = flags[name];
    if (typeof text === 'string') graphOptions[name] = numberOf(name, text, fallback, faults);
  }
  const split = typeof flags.split === 'string' ? flags.split.split(',') : defaults.split.map(String);
  return {
    graph: (flags.graph ?? defaults.graph) as Hsn.GraphKind,
    graphOptions,
    nodes: number('nodes'),
    length: number('length'),
    sentences: number('sentences'),
    // A share that is no number becomes NaN, which the settings' own check refuses with the form to use.
    split: split.map((share) => (share.trim() === '' ? Number.NaN : Number(share))) as Hsn.Split,
    seed: number('seed'),
  };
}

/** Adds faults of values to those of texts, without naming a setting twice. */
function addFaults(faults: Hsn.Fault[], more: readonly Hsn.Fault[], flags: Flags): void {
  const unread = new Set(faults.map((fault) => fault.setting));
  faults.push(...more.filter((fault) => !unread.has(fault.setting)));
  if (flags.out.trim() === '')
    faults.push({ setting: 'out', text: 'expected the name of a folder, got an empty one' });
}

/** Settings from flags, with the faults of text and of values together. */
function readFlags(flags: Flags, hsn: Library): { settings: Hsn.SyntheticSettings; faults: Hsn.Fault[] } {
  const defaults = hsn.SYNTHETIC_DEFAULTS;
  const faults: Hsn.Fault[] = [];
  const number = numbersOf<'tokens' | 'bag'>(flags, defaults, faults);
  const settings: Hsn.SyntheticSettings = {
    ...sharedSettings(flags, hsn, defaults, faults),
    tokens: number('tokens'),
    bag: number('bag'),
    disjoint: flags.disjoint === true,
  };
  addFaults(faults, hsn.syntheticFaults(settings), flags);
  return { settings, faults };
}

function wordsSummary({ settings, counts }: Hsn.WordsRecord, out: string): string {
  const { train, valid, test } = counts.sentences;
  const labels = Object.entries(counts.labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, count]) => `${label} ${count}`);
  return [
    graphLine(settings, counts),
    ...reconnectedLine(counts.reconnected),
    `phrases    ${counts.phrases} on ${counts.nodes} topics`,
    `sentences  ${train} train, ${valid} valid, ${test} test, ${settings.length} phrases each`,
    `labels     ${labels.join(', ')}`,
    `written to ${out}`,
  ].join('\n');
}

function graphLine(
  settings: { graph: string; graphOptions: Hsn.GraphOptions },
  counts: { nodes: number; edges: number },
): string {
  const options = Object.entries(settings.graphOptions).map(([name, value]) => `${name} ${value}`);
  return `graph      ${settings.graph} (${options.join(', ')}): ${counts.nodes} nodes, ${counts.edges} edges`;
}

function reconnectedLine(count: number): string[] {
  if (count === 0) return [];
  const nodes = count === 1 ? 'node was' : 'nodes were';
  return [`           ${count} isolated ${nodes} linked to a random other, so that walks can leave`];
}

function summary({ settings, counts }: Hsn.CorpusRecord, out: string): string {
  const { train, valid, test } = counts.sentences;
  return [
    graphLine(settings, counts),
    ...reconnectedLine(counts.reconnected),
    `tokens     ${settings.tokens}, of which ${counts.tokens_in_bags} in bags of ${settings.bag}; ${counts.tokens_shared} shared between nodes`,
    `sentences  ${train} train, ${valid} valid, ${test} test, ${settings.length} tokens each`,
    `written to ${out}`,
  ].join('\n');
}
