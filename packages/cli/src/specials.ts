import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { ExplainedText } from '@hidden-schema/studies/analyses/explain-text';
import { encodedOf, limitHelp, withAnalysed } from './analysis.ts';
import { answerNamed, type Special } from './analysis-verb.ts';
import { writeOutput } from './output-files.ts';
import { print, printPainted, say, visible } from './terminal.ts';
import { byEnding } from './text-flags.ts';

/** `hsn symbols RUN` lists all; a symbol after the run, or --levels, asks about one of them, or about groups. */
const symbols: Special = {
  extend: (command) =>
    void command
      .argument('[symbol]', 'one symbol, by number or name')
      .option('--levels <counts>', 'merge symbols into so many groups, one or more levels: 5,10,20'),
  instead: async (directory, flags, _, words) => {
    if (words[0] === undefined && flags.levels === undefined) return false;
    if (words[0] === undefined) return answerNamed('levels', directory, [], flags);
    if (flags.levels !== undefined)
      throw new UserError('--levels is about all symbols; leave out the number of one');
    return answerNamed('meaning', directory, words, flags);
  },
};

/** `hsn explain RUN TEXT` prints the text in colours; --html writes a page, and --check measures explanations. */
const explain: Special = {
  extend: (command) =>
    void command
      .option('--html <file>', 'write a page with the text in colours')
      .option('--check <n>', 'instead measure explanations on so many texts of the run'),
  instead: async (directory, flags, { text }) => {
    if (flags.check !== undefined) return answerNamed('faithfulness', directory, [], flags);
    if (typeof text !== 'string' || text.trim() === '')
      throw new UserError('which text is to be explained? give one, or --check N to measure explanations');
    return false;
  },
  show: async (data, { run }, { html, json }) => {
    const { explainedPage } = await import('@hidden-schema/studies/analyses/explain-page');
    const { plainJson } = await import('@hidden-schema/studies/drawing/results');
    const { symbolTitles } = await import('@hidden-schema/studies/symbols/names');
    const title = symbolTitles(run);
    const explained = data as ExplainedText;
    if (typeof html === 'string') {
      await writeOutput(html, explainedPage(explained, title));
      return print(`written to ${html}\n`);
    }
    if (json) return print(plainJson(data));
    return printPainted(painted(explained, title, process.stdout.isTTY && !process.env.NO_COLOR));
  },
};

/** `hsn graph RUN` prints statistics; --export writes the graph for other programs. */
const statistics: Special = {
  extend: (command) =>
    void command
      .option('--export <file>', 'write the graph: .gexf, .graphml, .json or .csv')
      .option('--threshold <p>', 'least probability of an exported link', '0.5')
      .option('--limit <n>', `export: ${limitHelp}`),
  instead: async (directory, flags) => {
    if (flags.export === undefined) return false;
    const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
    const exports = await import('@hidden-schema/studies/runs/graph-export');
    const file = String(flags.export);
    const format = byEnding(file, exports.GRAPH_FORMATS);
    if (!format)
      throw new UserError(
        `--export takes a file ending in .${exports.GRAPH_FORMATS.join(', .')}, got ${file}`,
      );
    await withAnalysed(directory, flags, async (run, signal) => {
      const least = Number(flags.threshold || Number.NaN);
      if (!(least > 0 && least <= 1))
        throw new UserError(`--threshold takes a probability above 0 and up to 1, got ${flags.threshold}`);
      using encoded = await encodedOf(run, flags, signal);
      const meanings = await storedMeanings(run, { encoded, signal });
      const exported = exports.exportedGraph(run, { least, meanings });
      await writeOutput(file, exports.graphText(exported, format));
      const nodes = `${file.slice(0, -path.extname(file).length)}-nodes.csv`;
      if (format === 'csv') await writeOutput(nodes, exports.nodesCsv(exported));
      const files = format === 'csv' ? `${file} and ${nodes}` : file;
      print(`${exported.nodes.length} symbols and ${exported.links.length} links written to ${files}\n`);
    });
    return true;
  },
};

/** `hsn generate RUN`; runs of models without walks write from latents. */
const generate: Special = {
  extend: (command) =>
    void command.option(
      '--prior',
      'runs of optimus, ivae and vq: a latent drawn from the prior for each sentence',
    ),
  instead: async (directory, flags, options) => {
    const { rivalVerbs } = await import('./rivals.ts');
    const verbs = await rivalVerbs(directory);
    await verbs?.generate(directory, options, flags);
    if (verbs) return true;
    if (flags.prior)
      throw new UserError('--prior is for runs of optimus, ivae and vq; give --walk or --like');
    return false;
  },
  note: (data, { like }) => {
    const { walk } = data as { walk: readonly number[] };
    if (like !== undefined) say(`walk ${walk.join(',')}\n`);
  },
};

/** `hsn interpolate RUN FIRST SECOND`; runs of models without walks go straight from one latent to the other. */
const interpolate: Special = {
  extend: (command) => void command.option('--nodewise', "the authors' variant, symbol by symbol"),
  options: ({ nodewise }) => (nodewise ? { variant: 'nodes' } : {}),
  instead: async (directory, flags, options) => {
    const { rivalVerbs } = await import('./rivals.ts');
    const verbs = await rivalVerbs(directory);
    await verbs?.interpolate(directory, options, flags);
    return verbs !== undefined;
  },
};

/** `hsn report RUN` writes the page and the run's model card. */
const report: Special = {
  extend: (command) =>
    void command.option('--out <file>', 'where to write (default: report.html in the run)'),
  show: async (data, { run }, { out, json }) => {
    const { writeModelCard } = await import('@hidden-schema/studies/runs/model-card');
    if (out === undefined) run.files.target('report.html');
    const file = out ?? path.join(run.directory, 'report.html');
    await writeOutput(file, (data as { html: string }).html);
    const card = writeModelCard(run.directory);
    print(json ? `${JSON.stringify({ report: file, card })}\n` : `report: ${file}\nmodel card: ${card}\n`);
  },
};

/** What verbs do beside their analysis, by its name; `encode` has a file of its own. */
export const specials: Readonly<Record<string, Special>> = {
  ...{ symbols, explain, statistics, generate, interpolate, report },
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
