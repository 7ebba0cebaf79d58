import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SyntheticCorpus, SyntheticEvaluation } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { checkTexts, exploreTexts } from './demo-texts.ts';
import { stopAsked } from './stopping.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';
import { trainShown } from './training.ts';

interface DemoFlags {
  out?: string;
  serve: boolean;
  sentences?: string;
  steps?: string;
  texts?: string;
  passages?: string;
  symbols?: string;
}

/** Small enough for a minute, and hard enough that counting tokens does not find the graph: tokens are shared. */
const language = {
  graph: 'barabasi',
  nodes: 40,
  tokens: 60,
  bag: 2,
  length: 10,
  sentences: 20_000,
  seed: 7,
} as const;
const trainingSteps = 240;
/** As many as are encoded in less than a minute on two cores. */
const passages = 3000;
const textSymbols = 40;
const settings = ['encoder.width=128', 'encoder.hidden=128', 'training.rate=0.002'];

export function register(program: Command): void {
  program
    .command('demo')
    .summary('find the symbols behind real texts, then check the method on a graph that is known')
    .description(
      'Find the symbols behind real texts (State of the Union addresses, or your own) and draw their network. Then check the method: hide a known graph in made-up sentences, look for it in the sentences alone, and compare.',
    )
    .option('--out <folder>', 'where corpus, run and figures go (default: a temporary folder)')
    .option(
      '--sentences <n>',
      `made-up sentences of the check; fewer are faster, and say less (default: ${language.sentences})`,
    )
    .option('--steps <n>', `training steps of the check (default: ${trainingSteps})`)
    .option(
      '--texts <file>',
      'texts of your own, or "none" for the check alone (default: State of the Union addresses)',
    )
    .option('--passages <n>', `passages of the addresses (default: ${passages})`)
    .option('--symbols <n>', `symbols looked for in texts (default: ${textSymbols})`)
    .option('--no-serve', 'end when the figures are written; without a terminal this is the default')
    .action(demo);
}

async function demo(flags: DemoFlags): Promise<void> {
  const sentences = wholeNumber('--sentences', flags.sentences) ?? language.sentences;
  const steps = wholeNumber('--steps', flags.steps) ?? trainingSteps;
  const asked = {
    texts: flags.texts,
    passages: wholeNumber('--passages', flags.passages) ?? passages,
    symbols: wholeNumber('--symbols', flags.symbols, 2) ?? textSymbols,
  };
  await checkTexts(flags.texts);
  const folder = flags.out ?? mkdtempSync(path.join(tmpdir(), 'hsn-demo-'));
  mkdirSync(folder, { recursive: true });
  const run = path.join(folder, 'run');
  const texts = await exploreTexts({ folder, ...asked });
  // A signal that ended this part asked for no check and no explorer.
  if (process.exitCode) return;
  if (!(await recoverGraph(folder, run, { sentences, steps }))) return;
  if (flags.serve && process.stdout.isTTY) await serve(texts === undefined ? [run] : [texts, run]);
}

/** The check: a known graph is hidden in sentences and looked for. False if a signal ended it. */
async function recoverGraph(
  folder: string,
  runFolder: string,
  { sentences, steps }: { sentences: number; steps: number },
): Promise<boolean> {
  const { SYNTHETIC_DEFAULTS } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/synthetic');
  const { writeSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/writer');
  const { readSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/reader');
  const { edgeCount } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/graphs');
  const { syntheticConfig, loadConfig } = await import('@hidden-schema/hsn/config/settings');
  const corpusFolder = path.join(folder, 'corpus');
  const drawn = { ...SYNTHETIC_DEFAULTS, ...language, sentences };
  writeSyntheticCorpus(drawn, corpusFolder, { force: true });
  const corpus = readSyntheticCorpus(corpusFolder);
  introduce(corpus, edgeCount(corpus.truth!), sentences);
  const config = syntheticConfig(loadConfig('', 'demo', [...settings, `training.steps=${steps}`]));
  const asked = { out: runFolder, config };
  const ended = await trainShown({ input: corpusFolder }, asked, { set: [], force: true });
  const evaluation = ended?.evaluation as SyntheticEvaluation | undefined;
  if (evaluation) await showRecovery(runFolder, corpus, evaluation);
  else print(`stopped; continue with: hsn train --out ${runFolder} --resume\n`);
  return evaluation !== undefined;
}

async function showRecovery(
  runFolder: string,
  corpus: SyntheticCorpus,
  evaluation: SyntheticEvaluation,
): Promise<void> {
  const { openSyntheticRun } = await import('@hidden-schema/hsn/tasks/synthetic/open');
  const { drawRecovery, recoveryText, walkExamples } = await import(
    '@hidden-schema/studies/drawing/showcase'
  );
  const { model } = openSyntheticRun(runFolder);
  const figures = drawRecovery(model, corpus, path.join(runFolder, 'figures'));
  const places = `figures  ${figures.join('\n         ')}\nrun      ${runFolder}   (hsn eval ${runFolder})`;
  print(['', recoveryText(evaluation), walkExamples(model, corpus, 3), places, ''].join('\n'));
  model.free();
}

/** Shows the runs in the explorer until Ctrl-C. */
async function serve(runs: string[]): Promise<void> {
  const { startExplorer } = await import('@hidden-schema/explorer');
  const explorer = await startExplorer({ run: runs, say: (text) => say(`${text}\n`) });
  print(`explore ${runs.length > 1 ? 'them' : 'it'} at ${explorer.url}   (Ctrl-C ends)\n`);
  await stopAsked();
  await explorer.close();
}

function introduce(corpus: SyntheticCorpus, links: number, sentences: number): void {
  const first = corpus.splits.train.tokens.subarray(0, corpus.length);
  const sentence = Array.from(first, (token) => corpus.vocabulary[token]).join(' ');
  print(
    '\nA check of the method, on a graph that is known\n' +
      `A graph of ${language.nodes} symbols and ${links} links was drawn. Each symbol has ${language.bag} tokens, and ` +
      `${sentences} sentences were written by\nwalking on the graph, such as:\n  ${sentence}\n` +
      'Training sees the sentences and not the graph. Does it find the graph again?\n',
  );
}
