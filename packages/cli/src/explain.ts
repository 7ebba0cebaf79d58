import type { ExplainedText } from '@hidden-schema/studies';
import { answerNamed, type Special } from './analysis-verb.ts';
import { writeOutput } from './output-files.ts';
import { print, printPainted, visible } from './terminal.ts';

/** `hsn explain RUN TEXT` prints the text in colours; --html writes a page, and --check measures explanations. */
export const special: Special = {
  extend: (command) =>
    void command
      .option('--html <file>', 'write a page with the text in colours')
      .option('--check <n>', 'instead measure explanations on so many texts of the run'),
  instead: async (directory, [text], flags) => {
    if (flags.check !== undefined) return answerNamed('faithfulness', directory, [], flags);
    const { UserError } = await import('@hidden-schema/base');
    if (typeof text !== 'string' || text.trim() === '')
      throw new UserError('which text is to be explained? give one, or --check N to measure explanations');
    return false;
  },
  show: async (data, { run }, { html, json }) => {
    const { explainedPage } = await import('@hidden-schema/studies/analysis/explained-page');
    const { plainJson } = await import('@hidden-schema/studies/analysis/results');
    const { symbolNames, symbolTitle } = await import('@hidden-schema/studies/analysis/names');
    const names = symbolNames(run);
    const title = (symbol: number) => symbolTitle(symbol, names);
    const explained = data as ExplainedText;
    if (typeof html === 'string') {
      await writeOutput(html, explainedPage(explained, title));
      return print(`written to ${html}\n`);
    }
    if (json) return print(plainJson(data));
    return printPainted(painted(explained, title, process.stdout.isTTY && !process.env.NO_COLOR));
  },
};

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
