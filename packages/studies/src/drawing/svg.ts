// The one way to draw: marks, which a file holds as text and the explorer's page shows as they are.

export const FONT = "'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
/** Told apart also by those who do not see red and green alike. */
export const COLOURS = ['#2f6db5', '#d1495b', '#e0a100', '#00798c', '#6b4e9b', '#66717e'];

/** Colours of what is not data. */
export interface Inks {
  ground: string;
  ink: string;
  faint: string;
  line: string;
}
export const INKS: Inks = { ground: '#ffffff', ink: '#1f2933', faint: '#616e7c', line: '#e4e9ee' };

/** An SVG element. */
export interface Mark {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly (Mark | string)[];
}

/** A mark with its numbers rounded to what can be seen, and nothing in its text that XML forbids. */
export function mark(
  tag: string,
  attributes: Readonly<Record<string, string | number | undefined>> = {},
  ...children: readonly (Mark | string)[]
): Mark {
  const stated = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'number' ? Number(short(value)) : value]],
  );
  return {
    tag,
    attributes: Object.fromEntries(stated),
    children: children.map((child) => (typeof child === 'string' ? printable(child) : child)),
  };
}

/** A mark as the text of a file. */
export function svgOf(of: Mark | string): string {
  if (typeof of === 'string') return escapeXml(of);
  const { tag, attributes, children } = of;
  const stated = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`);
  const open = `<${tag}${stated.join('')}`;
  return children.length === 0 ? `${open}/>` : `${open}>${children.map(svgOf).join('')}</${tag}>`;
}

/** A whole drawing with its title, as the text of a file. */
export function drawing(
  { width, height, inks = INKS }: { width: number; height: number; inks?: Inks },
  title: string,
  marks: readonly Mark[],
): string {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  const ground = mark('rect', { width, height, fill: inks.ground });
  const svg = { xmlns: 'http://www.w3.org/2000/svg', ...size, 'font-family': FONT };
  return svgOf(mark('svg', svg, mark('title', {}, title), ground, ...marks));
}

/** Marks moved to a place. */
export const placed = (x: number, y: number, ...marks: readonly Mark[]): Mark =>
  mark('g', { transform: `translate(${short(x)} ${short(y)})` }, ...marks);

export interface TextStyle {
  size: number;
  bold?: true;
  colour?: string;
  anchor?: 'middle' | 'end';
}

export function text(x: number, y: number, content: string, style: TextStyle): Mark {
  const { size, bold, colour = INKS.ink, anchor } = style;
  const weight = bold ? '600' : undefined;
  const look = { 'font-size': size, 'font-weight': weight, 'text-anchor': anchor, fill: colour };
  return mark('text', { x, y, ...look }, content);
}

/** Text that stays readable over lines. */
export function outlinedText(
  x: number,
  y: number,
  content: string,
  style: TextStyle & { ground?: string },
): Mark {
  const edge = {
    stroke: style.ground ?? INKS.ground,
    'stroke-width': 0.26 * style.size,
    'stroke-linejoin': 'round',
    'paint-order': 'stroke',
  };
  return mark('text', { ...edge, ...text(x, y, content, style).attributes }, content);
}

/** Letters of the fonts used are a little over half their size wide. */
export const widthOf = (content: string, size: number): number => 0.56 * size * content.length;

/** Cut to about the width. */
export function cut(content: string, width: number, size: number): string {
  const letters = Math.floor(width / (0.56 * size));
  return content.length > letters ? `${content.slice(0, letters - 1)}…` : content;
}

/** A straight line; a loop is a small circle above its node. */
export function linePath([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): string {
  const start = `M${short(x1)} ${short(y1)}`;
  if (x1 === x2 && y1 === y2) return `${start}a5 5 0 1 1 0.01 0`;
  return `${start}L${short(x2)} ${short(y2)}`;
}

export const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Characters that XML forbids replaced. */
export const printable = (content: string): string =>
  content.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd');

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for XML: signs escaped, characters that XML forbids replaced. */
export const escapeXml = (content: string): string =>
  printable(content).replace(/[&<>"']/g, (sign) => signs[sign]!);

type Colour = readonly [red: number, green: number, blue: number];
const HEAT: readonly Colour[] = [
  [244, 246, 248],
  [240, 152, 62],
  [122, 18, 48],
];
const TIME: readonly Colour[] = [
  [68, 57, 131],
  [33, 134, 142],
  [228, 160, 32],
  [196, 48, 43],
];

/** A colour from light over orange to dark red, for a value from 0 to 1. */
export const heat = (value: number): string => blended(HEAT, value);

/** A colour from violet over green and amber to red, all of them to be seen on white, for a value from 0 to 1. */
export const timeColour = (value: number): string => blended(TIME, value);

/** The colour at a place, from 0 to 1, between stops at even steps. */
function blended(stops: readonly Colour[], value: number): string {
  const place = Math.min(1, Math.max(0, value)) * (stops.length - 1);
  const at = Math.min(stops.length - 2, Math.floor(place));
  const [from, to] = [stops[at]!, stops[at + 1]!];
  return `rgb(${from.map((part, i) => Math.round(part + (place - at) * (to[i]! - part))).join(',')})`;
}
