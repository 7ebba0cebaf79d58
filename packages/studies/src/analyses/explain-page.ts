import { COLOURS, escapeXml } from '../drawing/svg.ts';
import type { ExplainedText } from './explain-text.ts';
import { pageOf } from './page.ts';

/** The text as HTML, escaped: words that carry a symbol in spans of class s0, s1 … by the place of their symbol. */
export function explainedSpans({ text, words, symbols }: ExplainedText): string {
  const place = new Map(symbols.map(({ symbol }, at) => [symbol, at]));
  let [out, end] = ['', 0];
  for (const { start, end: wordEnd, symbol, weight } of words) {
    out += escapeXml(text.slice(end, start));
    const shown = escapeXml(text.slice(start, wordEnd));
    const strong = weight > 0.6 ? ' strong' : '';
    out += symbol === null ? shown : `<span class="s${place.get(symbol)!}${strong}">${shown}</span>`;
    end = wordEnd;
  }
  return out + escapeXml(text.slice(end));
}

/** A page with the text in colours; everything in it escaped. */
export function explainedPage(explained: ExplainedText, title: (symbol: number) => string): string {
  const colour = (at: number) => COLOURS[at % COLOURS.length]!;
  const style = explained.symbols
    .map((_, at) => `.s${at}{border-bottom:3px solid ${colour(at)};padding-bottom:1px}`)
    .join('');
  const legend = explained.symbols.map(
    ({ symbol, closeness }, at) =>
      `<li><span class="s${at}">${escapeXml(title(symbol))}</span>, ${closeness.toFixed(2)} near</li>`,
  );
  const body = `<h1>Which words carry which symbol</h1><p class="explained">${explainedSpans(explained)}</p><ol>${legend.join('')}</ol>`;
  return pageOf({
    title: 'Which words carry which symbol',
    style: `${style}.strong{font-weight:700}.explained{font-size:1.15rem;line-height:2}`,
    body,
  });
}
