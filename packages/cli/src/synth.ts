import { UserError } from '@hidden-schema/base/errors';
import type { CorpusRecord, Fault, GraphOptions, WordSettings, WordsRecord } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { print } from './terminal.ts';

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

export function register(program: Command): void {
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
    .action(synth);
}

/** Draws and writes the corpus, and says what it is. */
async function synth(flags: Flags): Promise<void> {
  const { faultMessage } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/faults');
  const { SYNTHETIC_DEFAULTS: own, syntheticFaults } = await import(
    '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic'
  );
  const words = await import('@hidden-schema/hsn/tasks/synthetic/corpus/words');
  const { writeSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/writer');
  const { faults, numberOf } = flagReader(flags);
  const check = (found: readonly Fault[]) => {
    const all = withValueFaults(faults, found, flags);
    if (all.length > 0) throw new UserError(faultMessage(all, '--'));
  };
  const force = flags.force === true;
  if (flags.words) {
    for (const setting of ['tokens', 'bag', 'disjoint'])
      if (flags[setting] !== undefined)
        faults.push({ setting, text: 'belongs to random tokens, not to --words; leave it out' });
    const settings = await sharedSettings(flags, words.WORD_DEFAULTS, numberOf);
    check(words.wordFaults(settings));
    return print(wordsSummary(words.writeWordsCorpus(settings, flags.out, { force }), flags.out));
  }
  const settings = {
    ...(await sharedSettings(flags, own, numberOf)),
    tokens: numberOf('tokens', own.tokens),
    bag: numberOf('bag', own.bag),
    disjoint: flags.disjoint === true,
  };
  check(syntheticFaults(settings));
  print(summary(writeSyntheticCorpus(settings, flags.out, { force }), flags.out));
}

type NumberOf = (setting: string, fallback: number) => number;

/** Reads numbers from flags; the fallback where a flag is missing, and a fault beside it where it is no number. */
function flagReader(flags: Flags): { faults: Fault[]; numberOf: NumberOf } {
  const faults: Fault[] = [];
  const numberOf = (setting: string, fallback: number) => {
    const text = flags[setting];
    if (typeof text !== 'string') return fallback;
    const value = shareOf(text);
    if (!Number.isNaN(value)) return value;
    faults.push({ setting, text: `expected a number, got ${JSON.stringify(text)}` });
    return fallback;
  };
  return { faults, numberOf };
}

/** NaN where it is no number. */
const shareOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

/** Settings that both kinds of corpus have. */
async function sharedSettings(
  flags: Flags,
  defaults: WordSettings,
  numberOf: NumberOf,
): Promise<WordSettings> {
  const { GRAPH_DEFAULTS } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/graphs');
  const named = Object.entries(GRAPH_DEFAULTS).filter(([name]) => typeof flags[name] === 'string');
  const split = typeof flags.split === 'string' ? flags.split.split(',') : defaults.split.map(String);
  return {
    graph: (flags.graph ?? defaults.graph) as WordSettings['graph'],
    graphOptions: Object.fromEntries(named.map(([name, fallback]) => [name, numberOf(name, fallback)])),
    nodes: numberOf('nodes', defaults.nodes),
    length: numberOf('length', defaults.length),
    sentences: numberOf('sentences', defaults.sentences),
    // A share that is no number is refused by the settings' own check, with the form to use.
    split: split.map(shareOf) as WordSettings['split'],
    seed: numberOf('seed', defaults.seed),
  };
}

/** Faults of texts, then those of values, without naming a setting twice. */
function withValueFaults(faults: readonly Fault[], found: readonly Fault[], { out }: Flags): Fault[] {
  const unread = new Set(faults.map(({ setting }) => setting));
  const empty = { setting: 'out', text: 'expected the name of a folder, got an empty one' };
  const values = found.filter(({ setting }) => !unread.has(setting));
  return [...faults, ...values, ...(out.trim() === '' ? [empty] : [])];
}

function wordsSummary({ settings, counts }: WordsRecord, out: string): string {
  const { train, valid, test } = counts.sentences;
  const labels = Object.entries(counts.labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, count]) => `${label} ${count}`);
  return summaryOf(settings, counts, [
    `phrases    ${counts.phrases} on ${counts.nodes} topics`,
    `sentences  ${train} train, ${valid} valid, ${test} test, ${settings.length} phrases each`,
    `labels     ${labels.join(', ')}`,
    `written to ${out}`,
  ]);
}

function summary({ settings, counts }: CorpusRecord, out: string): string {
  const { train, valid, test } = counts.sentences;
  return summaryOf(settings, counts, [
    `tokens     ${settings.tokens}, of which ${counts.tokens_in_bags} in bags of ${settings.bag}; ${counts.tokens_shared} shared between nodes`,
    `sentences  ${train} train, ${valid} valid, ${test} test, ${settings.length} tokens each`,
    `written to ${out}`,
  ]);
}

/** The graph that was drawn, then other lines. */
function summaryOf(
  settings: { graph: string; graphOptions: GraphOptions },
  { nodes, edges, reconnected }: { nodes: number; edges: number; reconnected: number },
  lines: readonly string[],
): string {
  const options = Object.entries(settings.graphOptions).map(([name, value]) => `${name} ${value}`);
  const isolated = `           ${reconnected} isolated ${reconnected === 1 ? 'node was' : 'nodes were'} linked to a random other, so that walks can leave`;
  const graph = `graph      ${settings.graph} (${options.join(', ')}): ${nodes} nodes, ${edges} edges`;
  return `${[graph, ...(reconnected === 0 ? [] : [isolated]), ...lines].join('\n')}\n`;
}
