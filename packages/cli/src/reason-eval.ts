import { UserError } from '@hidden-schema/base/errors';
import type { PathChoice } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { collecting } from './reason-mixture.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ReasonEvalFlags {
  comet?: string;
  bart?: string;
  answers?: string;
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
  $ hsn reason eval run --comet comet --answers comet_bart.jsonl     on the file's own questions
  $ hsn reason eval --answers comet_bart.jsonl                       the file alone, without a run
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
    .argument(
      '[run]',
      'run folder of a network over tuples; without it, only the answers of --answers are scored',
    )
    .option('--comet <run>', 'a run of --part comet to compare with')
    .option('--bart <run>', 'a run of --part comet --decoder bart, for a row of its own')
    .option(
      '--answers <file>',
      "any system's answers as JSON lines (head, relation, references, answers): scored beside ours on its questions",
    )
    .option('--split <name>', 'test, or valid to choose settings on', 'test')
    .option('--limit <n>', '(event, relation) pairs to ask, "none" included (default: all)')
    .option(
      '--search <list>',
      'greedy, beamN, sampleN and rankN (of N training objects) with commas between, of walks and of COMET alike; none for floors and mixtures alone (default: greedy,beam5,beam10,sample10,rank50)',
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

async function evaluate(run: string | undefined, flags: ReasonEvalFlags): Promise<void> {
  const { table3Caption, table3Text } = await import('@hidden-schema/studies/reasoning/table3-text');
  if (flags.split !== 'test' && flags.split !== 'valid')
    throw new UserError(`--split takes test or valid, got ${flags.split}`);
  const table = run === undefined ? await answersAlone(flags) : await besideRun(run, flags);
  print(
    flags.json
      ? `${JSON.stringify(table, null, 2)}\n`
      : `${table3Text(table, 'terminal')}\n${table3Caption(table)}`,
  );
}

/** Settings of scoring, which need no run. */
function scoringFlags(flags: ReasonEvalFlags) {
  const limit = wholeNumber('--limit', flags.limit);
  const layer = wholeNumber('--layer', flags.layer, 0);
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(layer === undefined ? {} : { layer }),
    ...(flags.bertModel === undefined ? {} : { bertModel: flags.bertModel }),
    idf: flags.idf ?? false,
    onProgress: (text: string) => say(`${text}\n`),
  };
}

async function answersAlone(flags: ReasonEvalFlags) {
  const { evaluateAnswers } = await import('@hidden-schema/studies/reasoning/table3');
  if (flags.answers === undefined)
    throw new UserError(
      'what is to be evaluated? give the run of a network over tuples, or --answers <file>',
    );
  const ofRuns = { comet: flags.comet, bart: flags.bart, search: flags.search, path: flags.path };
  for (const [flag, value] of Object.entries(ofRuns))
    if (value !== undefined) throw new UserError(`--${flag} is for a run, and none was given`);
  return evaluateAnswers(flags.answers, scoringFlags(flags));
}

async function besideRun(run: string, flags: ReasonEvalFlags) {
  const { evaluateReasoning } = await import('@hidden-schema/studies/reasoning/table3');
  const { readSearch } = await import('@hidden-schema/studies/reasoning/answers');
  const { search, path, comet, bart, answers } = flags;
  const { onProgress, done } = await collecting();
  return evaluateReasoning(run, {
    onCollected: (count, total) => {
      onProgress(count, total);
      if (count === total) done();
    },
    split: flags.split as 'test' | 'valid',
    ...(comet === undefined ? {} : { comet }),
    ...(bart === undefined ? {} : { bart }),
    ...(answers === undefined ? {} : { answers }),
    ...(search === undefined ? {} : { searches: search === 'none' ? [] : search.split(',').map(readSearch) }),
    ...(path === undefined ? {} : { paths: await knownPaths(run, path.split(',')) }),
    ...scoringFlags(flags),
  }).finally(done);
}

/** Names of path models, refused where the run has no such one. */
export async function knownPaths(run: string, names: readonly string[]): Promise<PathChoice[]> {
  const { pathChoices } = await import('@hidden-schema/hsn/tasks/tuples/path/path-task');
  const there: readonly string[] = pathChoices(run);
  const strange = names.find((name) => !there.includes(name));
  if (strange !== undefined)
    throw new UserError(
      `${run} has no path model ${strange}; ${there.length > 0 ? `there are ${there.join(', ')}` : `train one with: hsn reason train --part path --run ${run}`}`,
    );
  return names as PathChoice[];
}
