import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SyntheticCorpus } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { stopAsked, stoppable } from './stopping.ts';
import { live, print, say } from './terminal.ts';

interface DemoFlags {
  out?: string;
  serve: boolean;
  sentences?: string;
  steps?: string;
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
const settings = ['encoder.width=128', 'encoder.hidden=128', 'training.rate=0.002'];

export function register(program: Command): void {
  program
    .command('demo')
    .summary('hide a graph in sentences, and find it again')
    .description(
      'Draw a graph, write sentences by walking on it, train on the sentences alone, and compare what was found with the truth.',
    )
    .option('--out <folder>', 'where corpus, run and figures go (default: a temporary folder)')
    .option(
      '--sentences <n>',
      `sentences to write; fewer are faster, and say less (default: ${language.sentences})`,
    )
    .option('--steps <n>', `training steps (default: ${trainingSteps})`)
    .option('--no-serve', 'end when the figures are written; without a terminal this is the default')
    .action(demo);
}

async function demo(flags: DemoFlags): Promise<void> {
  const hsn = await import('@hidden-schema/hsn');
  const base = await import('@hidden-schema/base');
  const studies = await import('@hidden-schema/studies');
  const sentences = wholeNumber(flags.sentences, language.sentences, '--sentences', base.UserError);
  const steps = wholeNumber(flags.steps, trainingSteps, '--steps', base.UserError);
  const folder = flags.out ?? mkdtempSync(path.join(tmpdir(), 'hsn-demo-'));
  const corpusFolder = path.join(folder, 'corpus');
  const runFolder = path.join(folder, 'run');
  const drawn = { ...hsn.SYNTHETIC_DEFAULTS, ...language, sentences };
  hsn.writeSyntheticCorpus(drawn, corpusFolder, { force: true });
  const corpus = hsn.readSyntheticCorpus(corpusFolder);
  introduce(corpus, hsn.edgeCount(corpus.truth!), sentences);
  const config = hsn.syntheticConfig(hsn.loadConfig('', 'demo', [...settings, `training.steps=${steps}`]));
  const info = { directory: path.resolve(corpusFolder), fingerprint: corpus.fingerprint };
  const run = hsn.Run.create(runFolder, config, info, { force: true });
  const result = await stoppable((signal) =>
    new hsn.Session(run, new hsn.SyntheticTask(config, corpus), { signal, output: live }).train(),
  ).finally(() => run.close());
  if (!result.evaluation) {
    print(`stopped; continue with: hsn train --out ${runFolder} --resume\n`);
    return;
  }
  const { model } = hsn.openModel(runFolder);
  const figures = studies.drawRecovery(model, corpus, path.join(runFolder, 'figures'));
  print(
    [
      '',
      studies.recoveryText(result.evaluation),
      studies.walkExamples(model, corpus, 3),
      `figures  ${figures.join('\n         ')}`,
      `run      ${runFolder}   (hsn eval ${runFolder})`,
      '',
    ].join('\n'),
  );
  model.free();
  if (flags.serve && process.stdout.isTTY) await serve(runFolder);
}

/** Shows the run in the explorer until Ctrl-C. */
async function serve(run: string): Promise<void> {
  const { startExplorer } = await import('@hidden-schema/explorer');
  const explorer = await startExplorer({ run, say: (text) => say(`${text}\n`) });
  print(`explore it at ${explorer.url}   (Ctrl-C ends)\n`);
  await stopAsked();
  await explorer.close();
}

function wholeNumber(
  text: string | undefined,
  fallback: number,
  flag: string,
  Fault: new (message: string) => Error,
): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Fault(`${flag} takes a whole number from 1, got ${text}`);
  return value;
}

function introduce(corpus: SyntheticCorpus, links: number, sentences: number): void {
  const L = corpus.length;
  const sentence = Array.from(
    corpus.splits.train.tokens.subarray(0, L),
    (token) => corpus.vocabulary[token],
  ).join(' ');
  print(
    `A graph of ${language.nodes} symbols and ${links} links was drawn, each symbol given ${language.bag} tokens, and ` +
      `${sentences} sentences written by walking on it:\n  ${sentence}\n` +
      'Now the graph is forgotten, and looked for in the sentences.\n',
  );
}
