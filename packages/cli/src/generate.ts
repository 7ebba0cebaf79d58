import type { LanguageTexts, WritingOptions } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

export interface GenerateFlags {
  walk?: string;
  like?: string;
  prior?: boolean;
  count: string;
  temperature: string;
  topK?: string;
  topP: string;
  repetitionPenalty?: string;
  seed?: string;
  maxTokens: string;
  checkpoint: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn generate run --walk 3,17,8,8,21
  $ hsn generate run --like "the food was great" --count 5 --temperature 0.8 --top-p 0.9 --seed 7
  $ hsn generate optimus-run --prior --count 5        a rival: a latent of its prior for each (docs/research/rivals.md)
`;

export function register(program: Command): void {
  program
    .command('generate')
    .summary('sentences from a walk')
    .description('Write sentences about a walk, or about the walk that another sentence has.')
    .argument('<run>', 'run folder of a language model')
    .option('--walk <symbols>', 'symbols with commas between')
    .option('--like <text>', 'the most probable walk of this sentence')
    .option('--prior', 'runs of optimus, ivae and vq: a latent drawn from the prior for each sentence')
    .option('--count <n>', 'sentences to write', '1')
    .option('--temperature <t>', '0 takes the best token each time', '0.7')
    .option('--top-k <k>', 'only the k best tokens')
    .option('--top-p <p>', 'only the best tokens that together have this probability', '0.9')
    .option('--repetition-penalty <x>', 'above 1, what was said already becomes less likely')
    .option('--seed <n>', "draws the sentences (default: the run's)")
    .option('--max-tokens <n>', 'tokens of a sentence, at most', '60')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(generate);
}

async function generate(directory: string, flags: GenerateFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { isRival } = await import('@hidden-schema/hsn/config/rivals');
  const { openLanguage } = await import('@hidden-schema/hsn/tasks/language/open');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { rivalVerbs } = await import('./rivals.ts');
  if (isRival(Run.open(directory).config)) return (await rivalVerbs(directory)).generate(directory, flags);
  if (flags.prior) throw new UserError('--prior is for runs of optimus, ivae and vq; give --walk or --like');
  if ((flags.walk === undefined) === (flags.like === undefined))
    throw new UserError('what about? give either --walk 3,17,8 or --like "a sentence"');
  const options = await writingOptions(flags);
  const { texts, notes } = await openLanguage(directory, { checkpoint: flags.checkpoint });
  for (const note of notes) say(`${note}\n`);
  const walk = flags.walk === undefined ? await walkLike(flags.like!, texts) : symbolsIn(flags.walk);
  showTexts(await texts.write(walk, options), flags, { walk });
}

/** Prints sentences, a line each, or as JSON with their walk. */
export function showTexts(
  texts: readonly string[],
  { json }: GenerateFlags,
  about: { walk?: number[] } = {},
): void {
  if (json) print(`${JSON.stringify({ ...about, texts }, null, 2)}\n`);
  else for (const text of texts) print(`${oneLine(text)}\n`);
}

/** Where lines are sentences, a sentence is a line. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

async function walkLike(text: string, texts: LanguageTexts): Promise<number[]> {
  const { UserError } = await import('@hidden-schema/base');
  if (text.trim() === '') throw new UserError('--like takes a sentence, got an empty one');
  const { walks } = await texts.read([text.trim()]);
  say(`walk ${walks[0]!.walk.join(',')}\n`);
  return walks[0]!.walk;
}

const symbolsIn = (text: string): number[] =>
  text.split(/[\s,]+/).map((symbol) => (symbol === '' ? Number.NaN : Number(symbol)));

/** How sentences are drawn, from flags. */
export async function writingOptions(flags: GenerateFlags): Promise<WritingOptions> {
  const { checkSampling } = await import('@hidden-schema/transformers/sampling');
  const count = (await wholeNumber('--count', flags.count))!;
  const seed = await wholeNumber('--seed', flags.seed, 0);
  const number = (value: string | undefined) =>
    value === undefined ? undefined : Number(value || Number.NaN);
  const [topK, topP] = [number(flags.topK), number(flags.topP)];
  const penalty = number(flags.repetitionPenalty);
  const options: WritingOptions = {
    count,
    maxTokens: (await wholeNumber('--max-tokens', flags.maxTokens))!,
    temperature: number(flags.temperature)!,
    ...(seed === undefined ? {} : { seed }),
    ...(topK === undefined ? {} : { topK }),
    topP: topP!,
    ...(penalty === undefined ? {} : { repetitionPenalty: penalty }),
  };
  checkSampling(options);
  return options;
}
