import type { Analysis, AnalysisName } from '@hidden-schema/studies/analyses';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  addAnalysisOptions,
  checkpointOption,
  deliver,
  progressBars,
  showSheets,
  withAnalysed,
} from './analysis.ts';
import { print } from './terminal.ts';

type Flags = Pick<AnalysisFlags, 'checkpoint' | 'json' | 'out'> & Record<string, unknown>;

/** The verb of an analysis, made from its declaration. */
export async function analysisVerb(name: AnalysisName): Promise<{ register(program: Command): void }> {
  const { loadAnalysis, optionForms } = await import('@hidden-schema/studies/analyses');
  const analysis = await loadAnalysis(name);
  return {
    register: (program) => {
      addVerb(program, analysis, optionForms(analysis)).action(
        async (directory: string, ...given: unknown[]) => {
          given.pop();
          const flags = given.pop() as Flags;
          await answer(analysis, directory, givenOptions(optionForms(analysis), given, flags), flags);
        },
      );
    },
  };
}

type Forms = ReturnType<typeof import('@hidden-schema/studies/analyses')['optionForms']>;

const kinds = {
  texts: ' of texts',
  labels: ' of a corpus with labels',
  decoder: ' of a language model',
} as const;

/** The command of a verb with arguments, options and help. */
export function addVerb(program: Command, analysis: Analysis, forms: Forms): Command {
  const { verb, name, summary, description, needs, files } = analysis;
  const command = program
    .command(verb ?? name)
    .summary(summary)
    .description(description);
  command.argument('<run>', `run folder${needs[0] ? kinds[needs[0]] : ''}`);
  for (const { option, description } of forms.filter(({ argument }) => argument))
    command.argument(`<${option}...>`, description);
  if (files) addAnalysisOptions(command);
  else checkpointOption(command.option('--json', 'print JSON'));
  for (const form of forms.filter(({ argument }) => !argument)) {
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
export function givenOptions(
  forms: Forms,
  words: readonly unknown[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const places = forms.filter(({ argument }) => argument);
  const entries = forms.flatMap((form) => {
    const key = form.flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const text = form.argument ? [words[places.indexOf(form)]].flat().join(' ') : flags[key];
    return typeof text === 'string' ? [[form.option, form.read(text)] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Asks an analysis of a run and prints what it says, as tables or JSON; files are written where it has any. */
export async function answer(
  analysis: Analysis,
  directory: string,
  options: Record<string, unknown>,
  flags: Flags,
): Promise<void> {
  const { askAnalysis, checkOptions, plainJson, RunSource } = await import('@hidden-schema/studies');
  checkOptions(analysis, options);
  await withAnalysed(directory, flags, async (run, signal) => {
    const { progress, done } = await progressBars();
    const source = new RunSource(run, { signal, progress });
    try {
      const data = await askAnalysis(analysis, source, options);
      done();
      if (flags.json && flags.out === undefined) return print(plainJson(data));
      const report = await analysis.tables(data, source);
      done();
      if (!analysis.files) return showSheets(report.shown ?? report.sheets, report.text);
      return deliver(directory, flags, { name: analysis.name, ...report, data });
    } finally {
      done();
      source.close();
    }
  });
}
