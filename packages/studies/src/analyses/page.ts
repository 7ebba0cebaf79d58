import { createHash } from 'node:crypto';
import { type Cell, formatNumber } from '@hidden-schema/base';
import { type Sheet, shownRows } from '../drawing/sheets.ts';
import { escapeXml } from '../drawing/svg.ts';
import { firstScreen, firstScreenStyle } from './report-first-screen.ts';
import type { Overview } from './report-overview.ts';
import { type SearchedTexts, searchPart, searchScript, searchStyle } from './report-search.ts';

/** A part of a report: a heading, then texts, tables and drawings in turn. */
export interface ReportSection {
  title: string;
  parts: readonly ReportPart[];
}
export type ReportPart = { text: string } | { sheet: Sheet } | { svg: string };

/** A page that needs nothing else: its style and at most one script of ours are in it, and nothing may be loaded. */
export interface PageParts {
  title: string;
  /** Beside the style that all pages have. */
  style?: string;
  /** HTML in which all that comes from elsewhere is escaped. */
  body: string;
  script?: string;
}

/** The whole page. Only the script whose hash is stated may run, even if something in a text found a way into the page. */
export function pageOf({ title, style: more = '', body, script }: PageParts): string {
  const sum = script === undefined ? '' : createHash('sha256').update(script).digest('base64');
  const run = sum && `; script-src 'sha256-${sum}'`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${run}">`,
    `<title>${escapeXml(title)}</title><style>${style}${more}</style></head><body>`,
    body,
    ...(script === undefined ? [] : [`<script>${script}</script>`]),
    '</body></html>',
    '',
  ].join('\n');
}

/** What a report is made of. */
export interface ReportParts {
  overview: Overview;
  facts: readonly (readonly [name: string, value: string])[];
  sections: readonly ReportSection[];
  searched: SearchedTexts;
}

/** The report: a first screen in plain words; search, tables, figures and facts of the run in folds below it. */
export function reportPage({ overview, facts, sections, searched }: ReportParts): string {
  const body = [
    '<main>',
    firstScreen(overview),
    '<h2 id="more-heading">More</h2>',
    fold('Search', 'search', searchPart(searched)),
    ...sections.map(({ title, parts }, at) =>
      fold(title, `s${at}`, parts.map((part) => shownPart(part, title)).join('\n')),
    ),
    fold('About this run', 'run', factList(facts)),
    '</main>',
  ].join('\n');
  return pageOf({
    title: overview.title,
    body,
    style: `${firstScreenStyle}${searchStyle}`,
    script: searchScript,
  });
}

export const factList = (facts: ReportParts['facts']): string =>
  `<dl>${facts.map(([name, value]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(value)}</dd>`).join('')}</dl>`;

/** A part that is closed until someone opens it; what is open is printed. */
const fold = (title: string, id: string, inner: string): string =>
  `<details id="${id}"><summary><h2>${escapeXml(title)}</h2></summary>${inner}</details>`;

export function shownPart(part: ReportPart, heading: string): string {
  if ('text' in part) return `<p>${escapeXml(part.text)}</p>`;
  return 'svg' in part ? `<figure>${part.svg}</figure>` : table(part.sheet, heading);
}

function table({ title, caption, columns, rows }: Sheet, heading: string): string {
  const shown = shownRows(columns, rows);
  const numeric = columns.map(({ align }, at) =>
    align ? align === 'right' : rows.every((row) => typeof row[at] !== 'string'),
  );
  const textOf = (value: Cell, at: number): string =>
    typeof value === 'number' ? formatNumber(value, columns[at]?.digits) : (value ?? '–');
  const short = columns.map((_, at) => shown.every((row) => textOf(row[at], at).length <= longestUnbroken));
  const kind = (at: number) => (numeric[at] ? ' class="n"' : short[at] ? ' class="s"' : '');
  const cell = (value: Cell, at: number) => `<td${kind(at)}>${escapeXml(textOf(value, at))}</td>`;
  const head = columns.map(
    (column, at) => `<th scope="col"${numeric[at] ? ' class="n"' : ''}>${escapeXml(column.title)}</th>`,
  );
  const body = shown.map((row) => `<tr>${columns.map((_, at) => cell(row[at], at)).join('')}</tr>`);
  const note = caption ? `<p class="note">${escapeXml(caption)}</p>` : '';
  return `<div class="table"><table>${title === heading ? '' : `<caption>${escapeXml(title)}</caption>`}<thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>${note}`;
}

/** Columns whose cells are no longer than this stay on one line, and the table scrolls instead. */
const longestUnbroken = 48;

const style = `
:root{color-scheme:light dark;--ink:#1f2933;--faint:#52606d;--back:#ffffff;--line:#d9e2ec;--soft:#f5f7fa;--link:#1f5fa8}
@media (prefers-color-scheme:dark){:root{--ink:#e4e7eb;--faint:#9fb3c8;--back:#14181d;--line:#323f4b;--soft:#1c2229;--link:#7db4f0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem;font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);background:var(--back)}
h1{font-size:1.7rem;margin:.2em 0 .5em;overflow-wrap:anywhere}h2{font-size:1.3rem;margin:2.4em 0 .6em;padding-top:.6em;border-top:1px solid var(--line)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:0;font-size:.92rem}dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
a{color:var(--link)}
details{border-top:1px solid var(--line)}details:last-of-type{border-bottom:1px solid var(--line)}summary{padding:.5rem 0;cursor:pointer}summary h2{display:inline;margin:0;padding:0;border:0;font-size:1.05rem;font-weight:600}
.table{overflow-x:auto;margin:1rem 0 .3rem}table{border-collapse:collapse;font-size:.9rem}caption{text-align:left;font-weight:600;padding:.2rem 0 .4rem}
th,td{padding:.32rem .8rem .32rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere;min-width:10rem;max-width:42rem}td.n,td.s{min-width:0}th{color:var(--faint);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}td.n,.s{white-space:nowrap}
.note{color:var(--faint);font-size:.87rem;margin:.2rem 0 1.4rem;max-width:60rem}
figure{margin:1rem 0;padding:.5rem;width:fit-content;max-width:100%;background:#ffffff;border:1px solid var(--line);border-radius:6px;overflow-x:auto}figure svg{display:block;max-width:100%;height:auto}
@media print{body{padding:0;max-width:none;font-size:11pt}figure,tr{break-inside:avoid}details:not([open]),#more-heading{display:none}figure{border:0}}
`;
