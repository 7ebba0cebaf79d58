import { UserError } from '@hidden-schema/base/errors';
import type { NamedSymbol } from '@hidden-schema/studies/symbols/ask-names';
import type { ChatServer } from '@hidden-schema/studies/symbols/chat-client';
import type { Command } from 'commander';
import {
  type AnalysisFlags,
  encodedOf,
  limitHelp,
  progressOf,
  showSheets,
  withAnalysed,
} from './analysis.ts';
import { print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

const examples = `
Examples:
  $ hsn name run --endpoint http://127.0.0.1:8080/v1 --model smollm2
  $ hsn name run 3 17 --endpoint http://127.0.0.1:11434/v1 --model llama3.2
  $ hsn name run --endpoint https://models.example/v1 --model large --key-from MODEL_KEY --send-texts
  $ hsn undo run                  takes all of these names back

A server that speaks OpenAI's protocol (llama.cpp, Ollama, vLLM) reads the first words and a few texts of each symbol and
gives it a name and a sentence. Symbols that you named are left alone. Each answer is checked; one that is no JSON, too
long, taken by another symbol, or late, leaves the old name. Texts leave this machine only with --send-texts.
`;

interface NameFlags extends Pick<AnalysisFlags, 'checkpoint' | 'json' | 'limit'> {
  endpoint: string;
  model: string;
  keyFrom?: string;
  sendTexts?: boolean;
  timeout: string;
}

export function register(program: Command): void {
  program
    .command('name')
    .summary('names and descriptions of symbols by a language model of yours')
    .description('Have a language model name the symbols of a run.')
    .argument('<run>', 'run folder')
    .argument('[symbols...]', 'by number or name (default: all that you have not named)')
    .requiredOption('--endpoint <url>', 'base address of an OpenAI-compatible server')
    .requiredOption('--model <name>', 'model to ask there')
    .option('--key-from <variable>', 'environment variable that holds the key of the server')
    .option('--send-texts', 'allow a server that is not on this machine to get words and texts')
    .option('--timeout <seconds>', 'for one answer', '120')
    .option('--json', 'print JSON')
    .option('--limit <n>', limitHelp)
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(name);
}

async function name(directory: string, named: string[], flags: NameFlags): Promise<void> {
  const { symbolNamed } = await import('@hidden-schema/studies/symbols/names');
  const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
  const { askNames, storeNames } = await import('@hidden-schema/studies/symbols/ask-names');
  const server = await serverOf(flags);
  await withAnalysed(directory, flags, async (run, signal) => {
    const symbols = named.map((one) => symbolNamed(one, directory, run.symbols));
    using encoded = await encodedOf(run, flags, signal);
    const meanings = await storedMeanings(run, { encoded, signal });
    const { onProgress, done } = await progressOf('name', 'symbols');
    const only = symbols.length > 0 ? { symbols } : {};
    const results = await askNames(run, meanings, server, { ...only, signal, onProgress });
    done();
    const stored = await storeNames(run, results, flags.model);
    await show(directory, flags, { results, stored });
  });
}

async function serverOf(flags: NameFlags): Promise<ChatServer> {
  const { isLoopback, parseEndpoint } = await import('@hidden-schema/studies/symbols/chat-client');
  const { SENT } = await import('@hidden-schema/studies/symbols/ask-names');
  const endpoint = parseEndpoint(flags.endpoint);
  const seconds = wholeNumber('--timeout', flags.timeout);
  const sent = `${SENT.words} words and up to ${SENT.texts} texts of each symbol (${SENT.characters} characters each)`;
  if (!isLoopback(endpoint)) {
    if (!flags.sendTexts)
      throw new UserError(
        `${endpoint.host} is not this machine; with --send-texts it gets ${sent}, nothing was sent`,
      );
    say(`sending to ${endpoint.host}: ${sent}\n`);
  }
  const key = flags.keyFrom === undefined ? undefined : process.env[flags.keyFrom];
  if (flags.keyFrom !== undefined && !key)
    throw new UserError(`--key-from: the environment has no variable ${flags.keyFrom}`);
  return { endpoint, model: flags.model, timeoutMs: seconds * 1000, key };
}

async function show(
  directory: string,
  { json }: NameFlags,
  { results, stored }: { results: readonly NamedSymbol[]; stored: number },
): Promise<void> {
  const { plainJson } = await import('@hidden-schema/studies/drawing/results');
  if (json) return print(plainJson({ named: stored, symbols: results }));
  const fresh = results.filter(({ description }) => description !== undefined);
  const kept = results.filter(({ fault }) => fault !== undefined);
  const sheets = [
    {
      ...{ name: 'names', title: 'Names' },
      columns: [{ title: 'symbol' }, { title: 'name' }, { title: 'before' }, { title: 'description' }],
      rows: fresh.map((one) => [one.symbol, one.name!, one.before ?? undefined, one.description!]),
    },
    {
      ...{ name: 'kept', title: 'Names that stay, and why' },
      columns: [{ title: 'symbol' }, { title: 'name' }, { title: 'answer' }],
      rows: kept.map(({ symbol, name: old, fault }) => [symbol, old ?? undefined, fault!]),
    },
  ];
  await showSheets(sheets.filter(({ rows }) => rows.length > 0));
  if (results.length === 0) print('no symbol to name: you have named all of them\n');
  else if (stored === 0) print('no answer was of use; all names are as before\n');
  else print(`${stored} of ${results.length} symbols named; hsn undo ${directory} takes these names back\n`);
}
