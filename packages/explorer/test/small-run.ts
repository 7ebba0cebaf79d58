import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  loadConfig,
  Run,
  readSyntheticCorpus,
  Session,
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
  SyntheticTask,
  syntheticConfig,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';

const language: SyntheticSettings = {
  ...SYNTHETIC_DEFAULTS,
  ...{ graph: 'barabasi', graphOptions: { attach: 2 }, nodes: 12, tokens: 60, bag: 2 },
  ...{ disjoint: true, length: 6, sentences: 600, seed: 5 },
};
const settings = [
  ...['encoder.width=32', 'encoder.hidden=32', 'training.steps=20', 'training.batch=64'],
  ...['training.rate=0.02', 'training.warmup=2', 'training.evaluateEvery=10', 'training.logEvery=2'],
];

/** Tokens that would do harm on a careless page. */
export const markup = [
  '<img/src=x/onerror=window.harmed=1>',
  '</script><script>window.harmed=1</script>',
  '"onmouseover="window.harmed=1',
  '<svg/onload=window.harmed=1>',
];

export interface SmallRun {
  folder: string;
  run: string;
  corpus: string;
}

/** A corpus and a run on it, small enough for tests; some tokens are markup. */
export async function makeSmallRun(): Promise<SmallRun> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-explorer-'));
  const corpus = path.join(folder, 'corpus');
  const run = path.join(folder, 'run');
  writeSyntheticCorpus(language, corpus);
  replaceTokens(corpus);
  const config = syntheticConfig(loadConfig('', 'test', settings));
  const read = readSyntheticCorpus(corpus, { seed: config.seed });
  const made = Run.create(run, config, { directory: corpus, fingerprint: read.fingerprint });
  try {
    await new Session(made, new SyntheticTask(config, read), { output: { write: () => true } }).train();
  } finally {
    made.close();
  }
  return { folder, run, corpus };
}

/** Puts the markup in place of the first tokens of the first nodes. */
function replaceTokens(corpus: string): void {
  const bags = fs.readFileSync(path.join(corpus, 'node_tokens.tsv'), 'utf8').trim().split('\n');
  const old = markup.map((_, node) => bags[node]!.split('\t')[1]!.split(' ')[0]!);
  for (const name of ['node_tokens.tsv', 'train.txt', 'valid.txt', 'test.txt']) {
    const file = path.join(corpus, name);
    const text = fs.readFileSync(file, 'utf8').replaceAll(/[A-Z]+/g, (token) => {
      const at = old.indexOf(token);
      return at < 0 ? token : markup[at]!;
    });
    fs.writeFileSync(file, text);
  }
}
