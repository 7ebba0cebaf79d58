import type { PathFigures, ReasoningFigures } from '@hidden-schema/hsn';
import { aboveGuessing } from '@hidden-schema/hsn/tasks/tuples/path/path-accuracy';

/** What was measured of a network of tuples, or of COMET, in words. */
export function networkText({
  tuples,
  perplexity,
  reconstruction,
  information,
  symbols_used,
}: ReasoningFigures): string {
  const lines = [
    `  perplexity of objects  ${perplexity.toFixed(2)}  per token, given s, r${information === undefined ? '' : ' and the walk'}\n`,
    `  reconstruction         ${reconstruction.toFixed(3)}  nats an object\n`,
    ...(information === undefined
      ? []
      : [`  information            ${information.toFixed(2)}  nats in walks\n`]),
    ...(symbols_used === undefined ? [] : [`  symbols used           ${symbols_used}\n`]),
  ];
  return `on ${tuples} test tuples, events unseen:\n${lines.join('')}`;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** The same of a path model. */
export function pathText(figures: PathFigures): string {
  const rows: [string, string][] = [
    [
      percent(figures.accuracy),
      'of symbols found, each from the true ones before it (the paper: about 58 %)',
    ],
    [percent(figures.accuracy_free), "found, each from the model's own ones before it"],
    [percent(figures.accuracy_walk), 'of second halves found whole'],
    [percent(figures.baseline_previous), 'by the commonest symbol after the true one before it'],
    [percent(aboveGuessing(figures)), 'of the symbols that this guess misses are found'],
    [percent(figures.baseline_majority), 'by the commonest symbol of each step'],
    [figures.accuracy_at.map((share) => (100 * share).toFixed(0)).join(' '), '% step by step'],
  ];
  const width = Math.max(...rows.map(([value]) => value.length));
  const lines = rows.map(([value, meaning]) => `  ${value.padStart(width)}  ${meaning}\n`);
  return `second halves of ${figures.tuples} test tuples, events unseen:\n${lines.join('')}`;
}
