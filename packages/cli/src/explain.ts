import type { LanguageRun } from '@hidden-schema/hsn';
import type { ExplainedText, Faithfulness } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { encodedOf, progressOf, showSheets, withAnalysed } from './analysis.ts';
import { writeOutput } from './output-files.ts';
import { print, printPainted, visible } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface ExplainFlags {
  json?: boolean;
  html?: string;
  check?: string;
  checkpoint: string;
}

const examples = `
Examples:
  $ hsn explain run "the soup was cold and the waiter was rude"
  $ hsn explain run "the soup was cold" --html soup.html
  $ hsn explain run "the soup was cold" --json
  $ hsn explain run --check 100      whether explanations hold, on texts of the run

Each word is left out in turn (occlusion): it carries the symbol of the walk that the text is then least near to. Words in
colours carry the symbol of that colour, stronger ones in bold; where there are no colours a number follows. --check leaves
out the words that carry the first symbol of each text, and as many others at random, and counts how often it changes.
`;

export function register(program: Command): void {
  program
    .command('explain')
    .summary('which words of a text carry which symbol')
    .description('Show which words of a text carry which symbol of its walk.')
    .argument('<run>', 'run folder of texts')
    .argument('[text]', 'the text')
    .option('--json', 'print JSON')
    .option('--html <file>', 'write a page with the text in colours')
    .option('--check <n>', 'instead measure explanations on so many texts of the run')
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(explain);
}

async function explain(directory: string, text: string | undefined, flags: ExplainFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { explainText } = await import('@hidden-schema/studies/analysis/explain');
  const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
  const { explainedPage, explainedSpans } = await import('@hidden-schema/studies/analysis/explained-page');
  const { plainJson } = await import('@hidden-schema/studies/analysis/results');
  const check = await wholeNumber('--check', flags.check);
  if (check === undefined && (text === undefined || text.trim() === ''))
    throw new UserError('which text is to be explained? give one, or --check N to measure explanations');
  await withAnalysed(directory, flags, async (opened, signal) => {
    if (opened.kind !== 'language') throw new UserError(`${directory} is no run of texts; explain takes one`);
    if (check !== undefined) return checkExplanations(opened, check, flags, signal);
    const explained = await explainText(opened, text!);
    const names = symbolNames(opened.run);
    const title = (symbol: number) => symbolTitle(symbol, names);
    if (flags.html !== undefined) {
      await writeOutput(flags.html, explainedPage(explained, title));
      return print(`written to ${flags.html}\n`);
    }
    if (flags.json) return print(plainJson({ ...explained, html: explainedSpans(explained) }));
    return printPainted(painted(explained, title, process.stdout.isTTY && !process.env.NO_COLOR));
  });
}

/** Colours of the 256 that are told apart on light and dark grounds. */
const colours = [33, 160, 136, 30, 97, 245, 28, 166];

/** The text with its words in the colours of their symbols, then which colour is which. */
function painted(
  { text, words, symbols, untried }: ExplainedText,
  title: (symbol: number) => string,
  colour: boolean,
): string {
  const place = new Map(symbols.map(({ symbol }, at) => [symbol, at]));
  const paint = (shown: string, at: number, strong: boolean) =>
    colour
      ? `\x1b[${strong ? '1;' : ''}38;5;${colours[at % colours.length]}m${shown}\x1b[0m`
      : `${shown}[${at + 1}]`;
  let [out, end] = ['', 0];
  for (const word of words) {
    out += visible(text.slice(end, word.start));
    const shown = visible(text.slice(word.start, word.end));
    out += word.symbol === null ? shown : paint(shown, place.get(word.symbol)!, word.weight > 0.6);
    end = word.end;
  }
  const legend = symbols.map(
    ({ symbol, closeness }, at) =>
      `${colour ? paint('■', at, true) : `[${at + 1}]`} ${visible(title(symbol))}, ${closeness.toFixed(2)} near`,
  );
  const rest = untried > 0 ? `\nthe last ${untried} words were not tried` : '';
  return `${out}${visible(text.slice(end))}\n\n${legend.join('\n')}${rest}\n`;
}

async function checkExplanations(
  run: LanguageRun,
  count: number,
  flags: ExplainFlags,
  signal: AbortSignal,
): Promise<void> {
  const { explanationFaithfulness } = await import('@hidden-schema/studies/analysis/explain');
  const { plainJson } = await import('@hidden-schema/studies/analysis/results');
  const encoded = await encodedOf(run, {}, signal);
  const { onProgress, done } = await progressOf('explain', 'texts');
  try {
    const texts = Array.from({ length: Math.min(count, encoded.count) }, (_, n) => encoded.sentence(n).text);
    const found = await explanationFaithfulness(run, texts, { signal, onProgress });
    done();
    if (flags.json) return print(plainJson(found));
    return showSheets([checkSheet(found)]);
  } finally {
    done();
    encoded.close();
  }
}

function checkSheet({ texts, without, random, words, p }: Faithfulness) {
  const row = (name: string, { share, interval: [low, high] }: Faithfulness['without']) => [
    name,
    100 * share,
    `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`,
  ];
  return {
    name: 'explain-check',
    title: `Texts whose first symbol changes when ${words.toFixed(1)} words are left out, on average`,
    caption: `${texts} texts; Wilson intervals of 95 %; McNemar's exact test: p ${p < 0.0001 ? '< 0.0001' : `= ${p.toFixed(4)}`}.`,
    columns: [
      { title: 'left out', align: 'left' as const },
      { title: '% changed', digits: 1 },
      { title: '95 %', align: 'left' as const },
    ],
    rows: [row('words said to carry it', without), row('as many others, at random', random)],
  };
}
