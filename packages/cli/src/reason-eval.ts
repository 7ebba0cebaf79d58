import type { PathChoice } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReasonEvalFlags {
  comet?: string;
  bart?: string;
  split?: string;
  limit?: string;
  search?: string;
  path?: string;
  bertModel?: string;
  layer?: string;
  idf?: boolean;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn reason eval run --comet comet
  $ hsn reason eval run --split valid --limit 300 --search greedy,beam5 --path counts --json
  $ hsn reason eval run --comet comet --bert-model microsoft/deberta-base --layer 9

Floors that need no model stand in the table: the best constant answer of each relation, the nearest training event, and
the vote of the 30 nearest. Objects that say "none" are left out, and counted in the last two columns.
`;

export function register(parent: Command): void {
  parent
    .command('eval')
    .description(
      'BLEU, ROUGE-L, BERTScore, recall of references, diversity and novelty of answers for unseen events.',
    )
    .argument('<run>', 'run folder of a network over tuples')
    .option('--comet <run>', 'a run of --part comet to compare with')
    .option('--bart <run>', 'a run of --part comet --decoder bart, for a row of its own')
    .option('--split <name>', 'test, or valid to choose settings on', 'test')
    .option('--limit <n>', '(event, relation) pairs to ask, "none" included (default: all)')
    .option(
      '--search <list>',
      'greedy, beamN, sampleN and rankN (of N training objects) with commas between, of walks and of COMET alike (default: greedy,beam5,beam10,sample10,rank50)',
    )
    .option(
      '--path <list>',
      'path models with commas between, such as counts,counts+transformer (default: all)',
    )
    .option('--bert-model <name>', 'BERTScore: an encoder by name or folder (default: the embedded MiniLM)')
    .option('--layer <n>', "BERTScore: the encoder's layer (default: the last)")
    .option('--idf', 'BERTScore: weigh rare tokens more, by the references')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(evaluate);
}

async function evaluate(run: string, flags: ReasonEvalFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { evaluateReasoning, readSearch, table3Caption, table3Text } = await import('@hidden-schema/studies');
  const { split, search, path, bertModel } = flags;
  if (split !== 'test' && split !== 'valid') throw new UserError(`--split takes test or valid, got ${split}`);
  const limit = await wholeNumber('--limit', flags.limit);
  const layer = await wholeNumber('--layer', flags.layer, 0);
  const table = await evaluateReasoning(run, {
    split,
    ...(flags.comet ? { comet: flags.comet } : {}),
    ...(flags.bart ? { bart: flags.bart } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(layer === undefined ? {} : { layer }),
    ...(search === undefined ? {} : { searches: search.split(',').map(readSearch) }),
    ...(path === undefined ? {} : { paths: await knownPaths(run, path.split(',')) }),
    ...(bertModel === undefined ? {} : { bertModel }),
    idf: flags.idf ?? false,
    onProgress: (text) => say(`${text}\n`),
  });
  print(
    flags.json
      ? `${JSON.stringify(table, null, 2)}\n`
      : `${table3Text(table, 'terminal')}\n${table3Caption(table)}`,
  );
}

/** Names of path models, refused where the run has no such one. */
export async function knownPaths(run: string, names: readonly string[]): Promise<PathChoice[]> {
  const { UserError } = await import('@hidden-schema/base');
  const { pathChoices } = await import('@hidden-schema/hsn');
  const there: readonly string[] = pathChoices(run);
  const strange = names.find((name) => !there.includes(name));
  if (strange !== undefined)
    throw new UserError(
      `${run} has no path model ${strange}; ${there.length > 0 ? `there are ${there.join(', ')}` : `train one with: hsn reason train --part path --run ${run}`}`,
    );
  return names as PathChoice[];
}
