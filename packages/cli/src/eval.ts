import type { Command } from 'commander';
import { evaluationText } from './evaluation-text.ts';

interface EvalFlags {
  json?: boolean;
  corpus?: string;
  checkpoint: string;
  limit?: string;
}

const examples = `
Examples:
  $ hsn eval run
  $ hsn eval run --json
  $ hsn eval run --checkpoint last --limit 1000
`;

export function register(program: Command): void {
  program
    .command('eval')
    .summary("a run's figures: recovery, likelihood, divergences")
    .description(
      "Evaluate a run on its corpus's test split: the figures of the paper's Table 1 and its supplement.",
    )
    .argument('<run>', 'run folder')
    .option('--json', 'print JSON')
    .option('--corpus <folder>', 'another corpus than the run was trained on')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .option('--limit <n>', 'test sentences to use (default: all)')
    .addHelpText('after', examples)
    .action(evaluate);
}

async function evaluate(directory: string, flags: EvalFlags): Promise<void> {
  const { openModel, evaluateSynthetic, UserError } = await import('@hidden-schema/hsn');
  const limit = flags.limit === undefined ? undefined : Number(flags.limit);
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    throw new UserError(`--limit takes a whole number from 1, got ${flags.limit}`);
  }
  const { model, corpus, notes } = openModel(directory, {
    checkpoint: flags.checkpoint,
    ...(flags.corpus === undefined ? {} : { corpus: flags.corpus }),
  });
  for (const note of notes) process.stderr.write(`${note}\n`);
  const evaluation = evaluateSynthetic(model, corpus, limit === undefined ? {} : { limit });
  process.stdout.write(flags.json ? `${JSON.stringify(evaluation, null, 2)}\n` : evaluationText(evaluation));
}
