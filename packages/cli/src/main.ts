import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import * as attend from './attend.ts';
import * as cache from './cache.ts';
import * as compare from './compare.ts';
import * as completion from './completion.ts';
import * as data from './data.ts';
import * as demo from './demo.ts';
import * as doctor from './doctor.ts';
import * as encode from './encode.ts';
import * as evaluate from './eval.ts';
import * as explaining from './explain.ts';
import * as exporting from './export.ts';
import * as find from './find.ts';
import * as generate from './generate.ts';
import * as graph from './graph.ts';
import * as importing from './import.ts';
import * as interpolate from './interpolate.ts';
import * as labels from './labels.ts';
import * as merge from './merge.ts';
import * as predict from './predict.ts';
import * as reason from './reason.ts';
import * as rename from './rename.ts';
import * as report from './report-page.ts';
import * as reproduce from './reproduce.ts';
import * as runs from './runs.ts';
import * as schema from './schema.ts';
import * as serve from './serve.ts';
import * as setup from './setup.ts';
import * as split from './split.ts';
import * as symbols from './symbols.ts';
import * as synth from './synth.ts';
import { print, say, watchOutputs } from './terminal.ts';
import * as time from './time.ts';
import * as train from './train.ts';
import * as undo from './undo.ts';
import * as update from './update.ts';
import * as verify from './verify.ts';

/** The verbs, in the order of the help. Each loads what is heavy inside its action only. */
const verbs: readonly { register(program: Command): void }[] = [
  demo,
  setup,
  doctor,
  synth,
  data,
  train,
  evaluate,
  encode,
  generate,
  exporting,
  importing,
  graph,
  symbols,
  labels,
  find,
  compare,
  predict,
  explaining,
  time,
  attend,
  interpolate,
  rename,
  merge,
  split,
  update,
  undo,
  report,
  serve,
  runs,
  verify,
  cache,
  schema,
  completion,
  reason,
  reproduce,
];

const examples = `
Examples:
  $ hsn doctor                              what this machine has, and what is missing
  $ hsn synth --out corpus                  draw a graph and a corpus of walks on it
  $ hsn train --corpus corpus --out run     find the graph again
  $ hsn eval run                            how well it was found
  $ hsn train --corpus reviews.tsv --out run   the same for texts
  $ hsn encode run reviews.tsv              the walks of sentences
  $ hsn generate run --like "a good place"  sentences from the same walk
  $ hsn symbols run                         what the symbols mean
  $ hsn find run "late delivery"            symbols, walks and texts near a phrase
  $ hsn compare run --by label              what one group of texts has more of
  $ hsn report run                          all tables and figures on one page
  $ hsn serve run                           look at it in the browser
  $ hsn runs                                runs with their state; hsn verify run checks one
  $ hsn cache                               what is kept between runs, and clearing it
  $ hsn help train                          all about one verb
`;

/** Runs the command line; faults become a line on stderr and an exit code, never a rejection. */
export async function main(argv: string[]): Promise<void> {
  watchOutputs();
  const program = createProgram();
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const { text, code } = explain(error);
    if (text !== '') say(`${text}\n`);
    // What a signal asked for counts more than how its verb ended.
    process.exitCode ||= code;
  }
}

/** The command line with all its verbs, yet to be given its words. */
export function createProgram(): Command {
  const program = new Command('hsn')
    .description('Hidden Schema Networks: discover the graph of symbols behind a corpus.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage('<verb> [options]')
    .commandsGroup('Verbs:')
    .helpCommand('help [verb]', 'print the help of a verb')
    .addHelpText('after', examples)
    .configureOutput({
      writeOut: print,
      writeErr: say,
      outputError: (text, write) => write(usageFault(text)),
    })
    .exitOverride();
  for (const verb of verbs) verb.register(program);
  return program;
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
