/** What the page's search looks through. */
export interface SearchedTexts {
  symbols: { symbol: number; name: string; words: string[]; texts: number }[];
  texts: { text: string; label: string | null; walk: number[]; unsure: boolean; when: string | null }[];
  /** Texts in the corpus, of which the page holds some. */
  total: number;
}

/** As data that no browser runs: "<" is spelled out, so that nothing in a text can end the element. */
const dataText = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

/** The search's form, its results, and its data. */
export function searchPart(searched: SearchedTexts): string {
  const held = searched.texts.length;
  const some = held < searched.total ? ` ${held} of the ${searched.total} texts are in this page.` : '';
  return `<form role="search"><label>Words <input type="search" id="q" placeholder="words of texts or themes"></label>
<label>Theme <select id="k"><option value="">any</option></select></label>
<label>Label <select id="l"><option value="">any</option></select></label>
<label><input type="checkbox" id="u"> only unsure</label></form>
<noscript><p>The search needs scripts; everything else on this page does not.</p></noscript>
<p class="note">All words must be in a text, in any order; texts of the test split come first.${some}</p>
<p id="found" role="status"></p><ul id="symbols"></ul><ol id="texts"></ol><button type="button" id="more" hidden>more</button>
<script type="application/json" id="data">${dataText(searched)}</script>`;
}

/** Puts text into the page as text only: it never makes markup of it. */
export const searchScript = `
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const at = (id) => document.getElementById(id);
const made = (tag, text, kind) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
const option = (value, text) => {
  const element = made('option', text);
  element.value = value;
  return element;
};
const names = new Map(data.symbols.map((one) => [one.symbol, one.name]));
for (const { symbol, name } of data.symbols) at('k').append(option(String(symbol), name));
const labels = [...new Set(data.texts.map((one) => one.label).filter((label) => label !== null))].sort();
for (const label of labels) at('l').append(option(label, label));
if (labels.length === 0) at('l').parentElement.hidden = true;
const small = data.texts.map((one) => one.text.toLowerCase());
const counted = (count, what) => count + ' ' + what + (count === 1 ? '' : 's');
const page = 25;
let shown = page;
const shownText = (one) => {
  const item = document.createElement('li');
  const about = [one.label, one.when, one.unsure ? 'unsure' : null].filter((part) => part !== null).join(' · ');
  if (about) item.append(made('small', about));
  item.append(made('p', one.text));
  const walk = document.createElement('p');
  walk.className = 'walk';
  one.walk.forEach((symbol, i) => {
    if (i > 0) walk.append(' → ');
    const button = made('button', names.get(symbol) ?? String(symbol));
    button.type = 'button';
    button.addEventListener('click', () => { at('k').value = String(symbol); changed(); at('search').open = true; at('search').scrollIntoView(); });
    walk.append(button);
  });
  item.append(walk);
  return item;
};
const draw = () => {
  const words = at('q').value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  const [symbol, label, unsure] = [at('k').value, at('l').value, at('u').checked];
  const asked = words.length > 0 || symbol !== '' || label !== '' || unsure;
  const found = asked ? data.texts.filter((one, n) =>
    words.every((word) => small[n].includes(word)) &&
    (symbol === '' || one.walk.includes(Number(symbol))) &&
    (label === '' || one.label === label) &&
    (!unsure || one.unsure)) : [];
  const symbols = words.length === 0 ? [] : data.symbols.filter((one) =>
    words.every((word) => one.name.toLowerCase().includes(word) || one.words.some((other) => other.startsWith(word))));
  at('found').textContent = asked ? counted(symbols.length, 'theme') + ', ' + counted(found.length, 'text') : '';
  at('symbols').replaceChildren(...symbols.map((one) => made('li', one.name + ': ' + one.words.join(' ') + ' (' + one.texts + ' texts)')));
  at('texts').replaceChildren(...found.slice(0, shown).map(shownText));
  at('more').hidden = found.length <= shown;
};
const changed = () => { shown = page; draw(); };
for (const id of ['q', 'k', 'l', 'u']) at(id).addEventListener('input', changed);
document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());
at('more').addEventListener('click', () => { shown += page; draw(); });
`;

export const searchStyle = `
#search form{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;align-items:center}#search label{color:var(--faint)}
#search input[type=search],#search select{font:inherit;color:var(--ink);background:var(--soft);border:1px solid var(--line);border-radius:5px;padding:.3rem .5rem;max-width:20rem}
#texts{padding-left:2.4rem}#texts li{margin:.7rem 0}#texts p{margin:.1rem 0;overflow-wrap:anywhere;max-width:60rem}#texts small{color:var(--faint)}
.walk button,#more{font:inherit;font-size:.85rem;color:var(--link);background:none;border:1px solid var(--line);border-radius:5px;padding:.05rem .4rem;cursor:pointer}
`;
