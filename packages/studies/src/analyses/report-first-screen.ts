import { escapeXml, mark, short, svgOf } from '../drawing/svg.ts';
import type { GroupDifferences, Overview, OverviewTheme, ThemeOverTime } from './report-overview.ts';

/** Letters of an example text. */
const LONGEST = 140;

const percent = (share: number): string =>
  share > 0 && share < 0.01 ? `${(100 * share).toFixed(1)} %` : `${Math.round(100 * share)} %`;

/** The first screen as HTML in which all that comes from elsewhere is escaped. */
export function firstScreen({ title, sentences, svg, themes, groups, changes }: Overview): string {
  return [
    `<header><h1>${escapeXml(title)}</h1>`,
    ...sentences.map((sentence) => `<p class="lede">${escapeXml(sentence)}</p>`),
    `</header><figure class="picture">${svg}</figure>`,
    `<section id="themes"><h2>${themes.length === 10 ? 'The ten main themes' : 'The main themes'}</h2>`,
    `<ol class="themes">${themes.map(themeItem).join('')}</ol></section>`,
    groups.length + changes.length > 0 ? '<div class="pair">' : '',
    groups.length > 0
      ? `<section id="differences"><h2>What differs between groups</h2><ul>${groups.map(groupItem).join('')}</ul></section>`
      : '',
    changes.length > 0
      ? `<section id="changes"><h2>What changed over time</h2><ul class="changes">${changes.map(changeItem).join('')}</ul></section>`
      : '',
    groups.length + changes.length > 0 ? '</div>' : '',
  ].join('\n');
}

function themeItem({ name, words, share, examples }: OverviewTheme): string {
  const shown = examples.map((text) => `<q>${escapeXml(shortened(text))}</q>`);
  return `<li><p><b>${escapeXml(name)}</b> <span class="share">${percent(share)} of texts</span> <small>${escapeXml(words.join(', '))}</small></p>${shown.map((one) => `<p class="example">${one}</p>`).join('')}</li>`;
}

const shortened = (text: string): string => {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST).replace(/\s+\S*$/u, '')} …`;
};

function groupItem({ group, texts, more }: GroupDifferences): string {
  const themes = more.map(
    ({ name, own, others }) =>
      `${escapeXml(name)} <small>(${percent(own)}, others ${percent(others)})</small>`,
  );
  return `<li><b>${escapeXml(group)}</b> <small>${texts.toLocaleString('en')} texts</small> has more of ${themes.join(', ')}.</li>`;
}

function changeItem(change: ThemeOverTime): string {
  const { name, peak } = change;
  const sentence = peak
    ? `most in ${peak.when}: ${percent(peak.inside)} of texts then, ${percent(peak.outside)} at other times`
    : 'changes without one clear peak';
  return `<li>${sparkline(change)}<span><b>${escapeXml(name)}</b> ${escapeXml(sentence)}.</span></li>`;
}

const [WIDTH, HEIGHT] = [120, 26];

/** The share of each period as a small line, for the eye; the numbers stand in the table of peaks. */
function sparkline({ name, shares, periods }: ThemeOverTime): string {
  const most = shares.reduce<number>((largest, share) => Math.max(largest, share ?? 0), 0) || 1;
  const step = WIDTH / Math.max(1, shares.length - 1);
  const points = shares.flatMap((share, at) =>
    share === null ? [] : [`${short(at * step)},${short(HEIGHT - 2 - ((HEIGHT - 4) * share) / most)}`],
  );
  const look = { fill: 'none', stroke: 'currentColor', 'stroke-width': 1.6 };
  const size = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' };
  const title = mark('title', {}, `${name} from ${periods[0]} to ${periods[1]}`);
  return svgOf(mark('svg', size, title, mark('polyline', { points: points.join(' '), ...look })));
}

export const firstScreenStyle = `
body{max-width:80rem;font-size:15px;line-height:1.45}header h1{margin-bottom:.2em}.lede{margin:.15rem 0;max-width:76rem}
.picture{padding:0;width:100%;margin:.6rem 0}.picture svg{width:100%}
#themes h2,.pair h2{margin:.8em 0 .3em;padding-top:0;border-top:0}
.themes{columns:2;column-gap:2.2rem;padding:0;margin:0;list-style:none}.themes li{break-inside:avoid;padding:.35rem 0;border-bottom:1px solid var(--line)}
.themes p{margin:0}.themes small,.pair small{color:var(--faint)}.share{color:var(--faint);font-variant-numeric:tabular-nums}
.example{font-size:.86rem;line-height:1.4;color:var(--faint);overflow-wrap:anywhere}.example q{color:var(--ink)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:0 2.2rem}.pair section:only-child{grid-column:1/-1}.pair ul{margin:0;padding:0;list-style:none}.pair li{padding:.25rem 0;overflow-wrap:anywhere}
.changes li{display:flex;gap:.7rem;align-items:center}.changes svg{flex:none;color:var(--link)}
@media (max-width:52rem){.picture svg{width:56rem;max-width:none}.themes{columns:1}.pair{grid-template-columns:1fr}}
`;
