import fs from 'node:fs';
import path from 'node:path';
import { type Cell, formatTable, writeFileAtomic } from '@hidden-schema/base';
import { isRival, rivalNames } from '@hidden-schema/hsn/config/rivals';
import { dumpConfig } from '@hidden-schema/hsn/config/settings';
import { evaluationFigures } from '@hidden-schema/hsn/run/metrics';
import { Run } from '@hidden-schema/hsn/run/run';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';

/** What a run is, was made from and is good for, as Markdown. */
function modelCard(run: Run): string {
  const { config, record, state } = run;
  const name = path.basename(run.directory);
  return [
    `# ${inline(name)}`,
    modelText(config),
    section('Facts', factsTable(run)),
    section('Figures', figuresTable(run)),
    section('Use', useText(name, config)),
    section('Limits', limitsText(config)),
    section('Settings', `\`\`\`yaml\n${dumpConfig(config)}\`\`\``),
    `Made by version ${record.version} of Hidden Schema Networks; the run is ${state}.`,
  ]
    .join('\n\n')
    .concat('\n');
}

function modelText(config: Run['config']): string {
  if (isRival(config))
    return `${rivalNames[config.model]} over texts, a model that Hidden Schema Networks are compared with: it has latents in place of walks, and no graph.`;
  return config.model === 'language'
    ? `A Hidden Schema Network over texts: it reads a sentence as a walk of ${config.length} steps on a graph of ${config.symbols} symbols, and writes sentences about walks.`
    : 'A Hidden Schema Network over a synthetic language: it finds the graph that the sentences are walks on.';
}

function limitsText(config: Run['config']): string {
  const corpus =
    '- It reflects the corpus it was trained on, with its errors and biases; generated texts are samples, not facts.';
  if (isRival(config)) return corpus;
  return [
    '- Symbols are found without supervision: what a symbol means is read off its sentences, and names are given by people.',
    corpus,
    '- Walks are the most probable ones on the expected graph; other walks may be nearly as probable.',
  ].join('\n');
}

const section = (title: string, text: string): string => `## ${title}\n\n${text}`;

/** One line of Markdown in which nothing is markup. */
const inline = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').replace(/[\\`*_|<>[\]#]/g, (sign) => `\\${sign}`);

/** What a run's folder says of itself. */
export function runFacts(run: Run): [name: string, value: string][] {
  const { record, config } = run;
  const { seconds, step } = record;
  return [
    ['model', config.model],
    ['created', record.created],
    ['state', run.state],
    ...(typeof step === 'number' ? [['trained', `${step} steps`] as [string, string]] : []),
    ...(typeof seconds === 'number'
      ? [['training time', `${Math.round(seconds)} s`] as [string, string]]
      : []),
    // The folder's own name: where it lies on the machine it was trained on concerns nobody else.
    ['corpus', path.basename(record.corpus.directory)],
    ['corpus fingerprint', record.corpus.fingerprint.slice(0, 16)],
    ...(config.model === 'language' || isRival(config) ? textFacts(run) : []),
  ];
}

function textFacts(run: Run): [string, string][] {
  const { record } = textRecord(run);
  const encoder = fs.existsSync(record.encoder.name)
    ? path.basename(record.encoder.name)
    : record.encoder.name;
  return [
    ['training sentences', String(record.sentences)],
    ['labels', record.labels.join(', ') || 'none'],
    ['encoder', encoder],
    ['decoder', String(record.decoder.model_type ?? 'gpt2')],
  ];
}

function factsTable(run: Run): string {
  const rows = runFacts(run).map(([name, value]): Cell[] => [name, value]);
  return formatTable([{ title: '' }, { title: '', align: 'left' }], rows, 'markdown').trimEnd();
}

/** The figures at the end of training; none before. */
export function finalFigures(run: Run): [name: string, value: number][] {
  const figures = run.files.unlessDamaged(() => evaluationFigures(run), 'its figures are left out');
  return Object.entries(figures ?? {}).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as [string, number]] : [],
  );
}

function figuresTable(run: Run): string {
  const figures = finalFigures(run);
  if (figures.length === 0) return 'Training has not ended; `hsn eval` gives the figures of a checkpoint.';
  return formatTable([{ title: 'figure' }, { title: 'test split' }], figures, 'markdown').trimEnd();
}

function useText(name: string, config: Run['config']): string {
  // Quoted for a shell, whatever the folder is called.
  const quoted = /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  const commands = isRival(config)
    ? [
        `hsn eval ${quoted}`,
        `hsn generate ${quoted} --prior --count 5`,
        `hsn interpolate ${quoted} "a sentence" "another one"`,
      ]
    : [
        `hsn serve ${quoted}      # look at it in the browser`,
        `hsn encode ${quoted} FILE    # sentences to walks`,
        ...(config.model === 'language' ? [`hsn generate ${quoted} --like "a sentence"`] : []),
        `hsn report ${quoted}     # all tables and figures`,
      ];
  return `\`\`\`sh\n${commands.join('\n')}\n\`\`\``;
}

/** Writes the card into the run as `MODEL.md`; returns the file. */
export function writeModelCard(directory: string): string {
  const run = Run.open(directory);
  const file = run.files.target('MODEL.md');
  writeFileAtomic(file, modelCard(run));
  return file;
}
