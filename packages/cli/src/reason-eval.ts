import type { Table3Row } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReasonEvalFlags {
  comet?: string;
  limit?: string;
  search?: string;
  beam: string;
  layer?: string;
  idf?: boolean;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn reason eval run --comet comet
  $ hsn reason eval run --limit 300 --search beam --beam 5 --json
`;

export function register(parent: Command): void {
  parent
    .command('eval')
    .description(
      'BLEU-2, BERTScore, diversity and novelty of objects for test events, and what path models find.',
    )
    .argument('<run>', 'run folder of a network over tuples')
    .option('--comet <run>', 'a run of --part comet to compare with')
    .option('--limit <n>', 'test (event, relation) pairs to use (default: all)')
    .option('--search <how>', 'of walks: greedy or beam (default: both)')
    .option('--beam <n>', 'width of the beam', '5')
    .option('--layer <n>', "BERTScore: the encoder's layer (default: the last)")
    .option('--idf', 'BERTScore: weigh rare tokens more, by the references')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(evaluate);
}

async function evaluate(run: string, flags: ReasonEvalFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { evaluateReasoning, table3Text } = await import('@hidden-schema/studies');
  const { search } = flags;
  if (search !== undefined && search !== 'greedy' && search !== 'beam')
    throw new UserError(`--search takes greedy or beam, got ${search}`);
  const limit = await wholeNumber('--limit', flags.limit);
  const layer = await wholeNumber('--layer', flags.layer, 0);
  const rows: Table3Row[] = await evaluateReasoning(run, {
    ...(flags.comet ? { comet: flags.comet } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(layer === undefined ? {} : { layer }),
    ...(search === undefined ? {} : { search }),
    beam: (await wholeNumber('--beam', flags.beam))!,
    idf: flags.idf ?? false,
    onProgress: (text) => say(`${text}\n`),
  });
  print(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : table3Text(rows, 'terminal'));
}
