import type { Interpolation, InterpolationOptions } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { type AnalysisFlags, addAnalysisOptions, deliver, withAnalysed } from './analysis.ts';
import { wholeNumber } from './text-flags.ts';

export interface InterpolateFlags extends AnalysisFlags {
  nodewise?: boolean;
  steps: string;
  threshold: string;
  maxTokens: string;
  temperature: string;
  seed?: string;
}

const examples = `
Examples:
  $ hsn interpolate run "the food was terrible" "we loved the music"
  $ hsn interpolate run "the food was terrible" "we loved the music" --threshold 0.2 --json
  $ hsn interpolate run "the food was terrible" "we loved the music" --nodewise --steps 6

The paper's schema interpolation: a window of the walk's length slides along the first walk, the shortest path on the
graph to the beginning of the second, and the second walk; each step is decoded. --nodewise is what the authors' program
does instead, a path of its own for each place of the walk; steps that do not follow links are marked with *. Runs of optimus, ivae and vq go straight from one latent to the other.
`;

export function register(program: Command): void {
  addAnalysisOptions(
    program
      .command('interpolate')
      .summary('the steps between two sentences')
      .description('Go from one sentence to another over the graph, and write each step.')
      .argument('<run>', 'run folder of a language model')
      .argument('<first>', 'a sentence')
      .argument('<second>', 'another one'),
  )
    .option('--nodewise', "the authors' variant, symbol by symbol")
    .option('--steps <n>', 'with --nodewise, and for runs without walks: parts of the way', '4')
    .option('--threshold <p>', "least probability of the graph's links", '0.5')
    .option('--max-tokens <n>', 'tokens of each sentence, at most', '60')
    .option('--temperature <t>', '0 takes the best token, more draws', '0')
    .option('--seed <n>', "draws the sentences (default: the run's)")
    .addHelpText('after', examples)
    .action(interpolate);
}

async function interpolate(
  directory: string,
  first: string,
  second: string,
  flags: InterpolateFlags,
): Promise<void> {
  const base = await import('@hidden-schema/base');
  const { isRival } = await import('@hidden-schema/hsn/config/rivals');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { interpolateTexts } = await import('@hidden-schema/studies/analysis/interpolate');
  const { languageRun } = await import('@hidden-schema/studies/analysis/opened');
  const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
  const { interpolationSheet } = await import('@hidden-schema/studies/analysis/analysis-sheets');
  const options = await optionsOf(flags);
  const { rivalVerbs } = await import('./rivals.ts');
  if (isRival(Run.open(directory).config))
    return (await rivalVerbs(directory)).interpolate(directory, [first, second], options, flags);
  await withAnalysed(directory, flags, async (run) => {
    const found = await interpolateTexts(languageRun(run, 'hsn interpolate'), first, second, options);
    if (found.unreachable !== null && !flags.json) throw new base.UserError(found.unreachable);
    const names = symbolNames(run.run);
    await deliver(directory, flags, {
      name: 'interpolation',
      data: found,
      sheets: [interpolationSheet(found, names)],
      text: pathText(found, (symbol) => symbolTitle(symbol, names)),
    });
  });
}

function pathText({ path, steps }: Interpolation, title: (symbol: number) => string): string {
  const marked = steps.some(({ onGraph }) => !onGraph) ? ' * has a move without a link.' : '';
  return path ? `path: ${path.map(title).join(' → ')}.${marked}` : marked.trim();
}

async function optionsOf(flags: InterpolateFlags): Promise<InterpolationOptions> {
  const { checkSampling } = await import('@hidden-schema/transformers/sampling');
  const seed = await wholeNumber('--seed', flags.seed, 0);
  const temperature = Number(flags.temperature || Number.NaN);
  checkSampling({ temperature });
  return {
    variant: flags.nodewise ? 'nodes' : 'window',
    steps: (await wholeNumber('--steps', flags.steps))!,
    threshold: Number(flags.threshold || Number.NaN),
    write: {
      maxTokens: (await wholeNumber('--max-tokens', flags.maxTokens))!,
      temperature,
      ...(seed === undefined ? {} : { seed }),
    },
  };
}
