import type { OpenedRun } from '@hidden-schema/hsn';
import type { Analysis, AnalysisName, Report } from '@hidden-schema/studies/analyses';
import type { OptionForm } from '@hidden-schema/studies/option-forms';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  checkpointOption,
  deliver,
  progressBars,
  showSheets,
  unlessChanged,
  withAnalysed,
} from './analysis.ts';
import { print } from './terminal.ts';

export type Flags = AnalysisFlags & Record<string, unknown>;

/** What a verb has beside its analysis. */
export interface Special {
  /** Adds arguments and options. */
  extend?(command: Command): void;
  /** Options that its own flags are short for. */
  options?(flags: Flags): Record<string, unknown>;
  /** Another answer where flags or the run ask for one; false where they do not. */
  instead?(
    directory: string,
    flags: Flags,
    options: Readonly<Record<string, unknown>>,
    words: readonly unknown[],
  ): Promise<boolean>;
  /** Says something of the result before it is shown. */
  note?(data: unknown, flags: Flags): void;
  /** Prints or writes the result in place of its tables and its JSON. */
  show?(data: unknown, run: OpenedRun, flags: Flags): Promise<void>;
}

/** The verb of an analysis, made from its declaration. */
export async function analysisVerb(
  name: AnalysisName,
  special: Special = {},
): Promise<{ register(program: Command): void }> {
  const { analysis, forms } = await declared(name);
  const act = async (directory: string, ...given: unknown[]) => {
    const words = given.slice(0, -2);
    const flags = given.at(-2) as Flags;
    const options = { ...givenOptions(forms, words, flags), ...special.options?.(flags) };
    if (await special.instead?.(directory, flags, options, words)) return;
    await answer(analysis, directory, options, { flags, ...special });
  };
  return {
    register: (program) => {
      const command = addVerb(program, analysis, forms);
      special.extend?.(command);
      command.action(act);
    },
  };
}

/** Answers an analysis that is a form of another one's verb. */
export async function answerNamed(
  name: AnalysisName,
  directory: string,
  words: readonly unknown[],
  flags: Flags,
): Promise<true> {
  const { analysis, forms } = await declared(name);
  await answer(analysis, directory, givenOptions(forms, words, flags), { flags });
  return true;
}

async function declared(name: AnalysisName): Promise<{ analysis: Analysis; forms: OptionForm[] }> {
  const { loadAnalysis } = await import('@hidden-schema/studies/analyses');
  const { optionForms } = await import('@hidden-schema/studies/option-forms');
  const analysis = await loadAnalysis(name);
  return { analysis, forms: optionForms(analysis) };
}

const kinds = {
  texts: ' of texts',
  labels: ' of a corpus with labels',
  decoder: ' of a language model',
} as const;

/** The command of a verb with arguments, options and help. */
function addVerb(program: Command, analysis: Analysis, forms: readonly OptionForm[]): Command {
  const { verb, name, summary, description, needs, files } = analysis;
  const command = program
    .command(verb ?? name)
    .summary(summary)
    .description(description);
  command.argument('<run>', `run folder${needs[0] ? kinds[needs[0]] : ''}`);
  for (const { argument, description } of forms) if (argument) command.argument(argument, description);
  if (files) addAnalysisOptions(command);
  else checkpointOption(command.option('--json', 'print JSON'));
  for (const form of forms.filter(({ argument, own }) => !argument && !own)) {
    const text = form.default === undefined ? undefined : String(form.default);
    const flag = `--${form.flag} <${form.value}>`;
    if (form.required) command.requiredOption(flag, form.description);
    else command.option(flag, form.description, text);
  }
  return command.addHelpText('after', helpOf(analysis));
}

/** Examples and notes, as they stand below the options. */
function helpOf({ examples, notes }: Analysis): string {
  const width = Math.max(...examples.filter(([, shows]) => shows !== '').map(([command]) => command.length));
  const lines = examples.map(([command, shows]) =>
    shows === '' ? `  $ ${command}` : `  $ ${command.padEnd(width)}   ${shows}`,
  );
  return `\nExamples:\n${lines.join('\n')}\n\n${notes}\n`;
}

/** Options as the analysis takes them, from the words and flags that were given. */
function givenOptions(
  forms: readonly OptionForm[],
  words: readonly unknown[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const places = forms.filter(({ argument }) => argument);
  const entries = forms.flatMap((form) => {
    const key = form.flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const word = words[places.indexOf(form)];
    const text = form.argument ? (Array.isArray(word) ? word.join(' ') : word) : flags[key];
    return typeof text === 'string' ? [[form.option, form.read(text)] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Asks an analysis of a run and prints what it says, as tables or JSON; files are written where it has any. */
async function answer(
  analysis: Analysis,
  directory: string,
  options: Record<string, unknown>,
  { flags, show, note }: { flags: Flags } & Pick<Special, 'show' | 'note'>,
): Promise<void> {
  const { checkOptions } = await import('@hidden-schema/studies/analyses/options');
  const asked = checkOptions(analysis, options);
  const shown = { analysis, directory, flags };
  const { atHand } = analysis;
  // What lies in the run's files is answered from there.
  const known = await (atHand &&
    unlessChanged(() => atHand.read({ directory, checkpoint: flags.checkpoint }, asked)));
  if (known !== undefined) return present(shown, known, () => atHand!.tables(known));
  const { askAnalysis, RunSource } = await import('@hidden-schema/studies/analyses/source');
  await withAnalysed(directory, flags, async (run, signal) => {
    const { progress, done } = await progressBars();
    const source = new RunSource(run, { signal, progress });
    try {
      const data = await askAnalysis(analysis, source, options);
      done();
      note?.(data, flags);
      if (show) return await show(data, run, flags);
      return await present(shown, data, () => analysis.tables(data, source).finally(done));
    } finally {
      done();
      source.close();
    }
  });
}

/** Prints a result as tables or JSON; files are written where the analysis has any. */
async function present(
  { analysis, directory, flags }: { analysis: Analysis; directory: string; flags: Flags },
  data: unknown,
  tables: () => Promise<Report>,
): Promise<void> {
  if (flags.json && flags.out === undefined) {
    const { plainJson } = await import('@hidden-schema/studies/drawing/results');
    return print(plainJson(data));
  }
  const report = await tables();
  if (report.tree && !flags.json) print(`${report.tree}\n`);
  if (!analysis.files) return showSheets(report.shown ?? report.sheets, report.text);
  return deliver(directory, flags, { name: analysis.name, ...report, data });
}
