import { readFileSync } from 'node:fs';
import { type AnalysisName, analyses } from '@hidden-schema/studies/analyses';
import { Command, CommanderError } from 'commander';
import { noteOutputs } from './output-files.ts';
import { addCorpusOption, addDeviceOption, takeCorpus, takeDevice } from './shared-options.ts';
import { print, say, watchOutputs } from './terminal.ts';

interface Verb {
  register(program: Command): void;
}

/** Analyses whose verb has another name, or that are forms of another one's verb. */
const verbOf: Partial<Record<AnalysisName, string | null>> = {
  statistics: 'graph',
  meaning: null,
  levels: null,
  faithfulness: null,
};

async function analysisVerb(name: AnalysisName): Promise<Verb> {
  const verbs = await import('./analysis-verb.ts');
  if (name === 'encode') return verbs.analysisVerb(name, (await import('./encode.ts')).special);
  return verbs.analysisVerb(name, (await import('./specials.ts')).specials[name]);
}

/** A verb for every analysis of the table, under its name. */
const analysisVerbs: Readonly<Record<string, () => Promise<Verb>>> = Object.fromEntries(
  (Object.keys(analyses) as AnalysisName[]).flatMap((name) => {
    const verb = verbOf[name] === undefined ? name : verbOf[name];
    return verb === null ? [] : [[verb, () => analysisVerb(name)]];
  }),
);

const { generate, interpolate, ...looking } = analysisVerbs as typeof analysisVerbs &
  Record<'generate' | 'interpolate', () => Promise<Verb>>;

/** Verbs by what people want to do, in the order of the help. Each verb loads itself when it is asked for, and what is heavy in its action only. */
const groups: Readonly<Record<string, Readonly<Record<string, () => Promise<Verb>>>>> = {
  'Start:': {
    demo: () => import('./demo.ts'),
    setup: () => import('./setup.ts'),
    doctor: () => import('./doctor.ts'),
    data: () => import('./data.ts'),
    train: () => import('./train.ts'),
  },
  'Look at a run:': {
    ...looking,
    serve: () => import('./serve.ts'),
    mcp: () => import('./mcp.ts'),
    export: () => import('./export.ts'),
    runs: () => import('./runs.ts'),
  },
  'Change a run:': {
    name: () => import('./name.ts'),
    rename: async () => (await import('./edits.ts')).rename,
    merge: async () => (await import('./edits.ts')).merge,
    split: async () => (await import('./edits.ts')).split,
    undo: async () => (await import('./edits.ts')).undo,
    update: async () => (await import('./edits.ts')).update,
  },
  'Write and reason:': {
    ...{ generate, interpolate },
    reason: () => import('./reason.ts'),
  },
  'Research and upkeep:': {
    eval: () => import('./eval.ts'),
    synth: () => import('./synth.ts'),
    reproduce: async () => (await import('./reproduce.ts')).reproduceVerb(),
    import: () => import('./import.ts'),
    schema: () => import('./schema.ts'),
    verify: () => import('./verify.ts'),
    cache: () => import('./cache.ts'),
    completion: () => import('./completion.ts'),
  },
};
const verbs: Readonly<Record<string, () => Promise<Verb>>> = Object.assign({}, ...Object.values(groups));
const groupOf = (verb: string): string => Object.keys(groups).find((group) => verb in groups[group]!)!;

const examples = `
Examples:
  $ hsn demo                                try it on presidents' speeches
  $ hsn train --corpus reviews.tsv --stage discover --out run   themes, links and walks of your texts
  $ hsn symbols run                         what the themes are
  $ hsn find run "late delivery"            themes and texts near a phrase
  $ hsn compare run --by label              what one group of texts talks about more
  $ hsn serve run                           look at it in the browser
  $ hsn report run                          one page to send to a colleague
  $ hsn train --out run --resume            train a decoder, which writes texts from walks
  $ hsn help train                          all about one verb
`;

/** Runs the command line; faults become a line on stderr and an exit code, never a rejection. */
export async function main(argv: string[]): Promise<void> {
  watchOutputs();
  try {
    refuseUnknownHelp(argv);
    const program = await createProgram(neededVerbs(argv));
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const { text, code } = explain(error);
    if (text !== '') say(`${text}\n`);
    // What a signal asked for counts more than how its verb ended.
    process.exitCode ||= code;
  }
}

/** commander would print the help of all verbs instead. */
function refuseUnknownHelp([first, second]: readonly string[]): void {
  if (first !== 'help' || second === undefined || second.startsWith('-') || Object.hasOwn(verbs, second))
    return;
  const near = Object.keys(verbs).filter((verb) => verb.startsWith(second.slice(0, 2)));
  const hint = near.length > 0 ? `near it ${near.length > 1 ? 'are' : 'is'} ${near.join(', ')}; ` : '';
  say(`hsn: there is no verb ${second}; ${hint}hsn --help lists all\n`);
  throw new CommanderError(2, 'hsn.unknownVerb', second);
}

/** The verb that is asked for or about, if it is one; else all: the help lists them, and a wrong word is compared with them. */
function neededVerbs([first = '', second = '']: readonly string[]): readonly string[] {
  const asked = first === 'help' ? second : first;
  // A completion is of all verbs.
  return Object.hasOwn(verbs, asked) && first !== 'completion' ? [asked] : Object.keys(verbs);
}

/** The command line with its verbs, all unless some are named, yet to be given its words. */
export async function createProgram(names: readonly string[] = Object.keys(verbs)): Promise<Command> {
  const program = new Command('hsn')
    .description('Hidden Schema Networks: find the themes of your texts, and how they follow one another.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage('<verb> [options]')
    .commandsGroup('Help:')
    .helpCommand('help [verb]', 'print the help of a verb')
    .addHelpText('after', examples)
    .configureOutput({
      writeOut: print,
      writeErr: say,
      outputError: (text, write) => write(usageFault(text)),
    })
    .exitOverride();
  const needed = await Promise.all(names.map((name) => verbs[name]!()));
  for (const verb of needed) verb.register(program);
  for (const command of program.commands) {
    command.helpGroup(groupOf(command.name()));
    addCorpusOption(command);
    addDeviceOption(command);
  }
  return program.hook('preAction', async (_, command) => {
    await noteOutputs(command);
    await takeDevice(command);
    await takeCorpus(command);
  });
}

/** commander's message in one line, in the form of all others. */
function usageFault(text: string): string {
  const words = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  return `hsn: ${words}; hsn --help lists verbs and options\n`;
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** What the user reads about a fault, and the exit code: 2 for wrong usage, 1 for the rest. */
export function explain(
  error: unknown,
  debug = process.env.HSN_DEBUG === '1',
): { text: string; code: number } {
  // commander has printed its own message already; help and version are not faults.
  if (error instanceof CommanderError) return { text: '', code: error.exitCode === 0 ? 0 : 2 };
  if (!(error instanceof Error)) return { text: `hsn: ${String(error)}`, code: 1 };
  const stack = debug && error.stack ? `\n${error.stack}` : '';
  return { text: `${messageOf(error)}${stack}`, code: 1 };
}

/** By name, because importing the classes would load the engine for every `hsn --help`. */
function messageOf(error: Error): string {
  switch (error.name) {
    case 'UserError':
    case 'EngineError':
    case 'GroupError':
    case 'SafetensorsError':
      return `hsn: ${error.message}`;
    case 'RankLostError':
      return `hsn: ${error.message}; this process ended too. --resume goes on from the last checkpoint, with as many processes as you like`;
    case 'TorchError':
      return `hsn: libtorch: ${error.message}\n     hsn doctor says whether the engine is well; HSN_DEBUG=1 shows where this happened`;
    default:
      return `hsn: unexpected ${error.name}: ${error.message.split('\n')[0]} (HSN_DEBUG=1 shows where)`;
  }
}
