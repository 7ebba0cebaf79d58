// Parts that all drawings share.

export const FONT = "'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
export const INK = '#1f2933';
export const FAINT_INK = '#616e7c';
/** Told apart also by those who do not see red and green alike. */
export const COLOURS = ['#2f6db5', '#d1495b', '#e0a100', '#00798c', '#6b4e9b', '#66717e'];

export interface TextStyle {
  size: number;
  bold?: true;
  colour?: string;
  anchor?: 'middle' | 'end';
}

export function text(x: number, y: number, content: string, style: TextStyle): string {
  const { size, bold, colour = INK, anchor } = style;
  const weight = bold ? ' font-weight="600"' : '';
  const side = anchor ? ` text-anchor="${anchor}"` : '';
  return `<text x="${short(x)}" y="${short(y)}" font-size="${size}"${weight}${side} fill="${colour}">${escapeXml(content)}</text>`;
}

/** Cut to about the width; letters of the fonts used are a little over half their size wide. */
export function cut(content: string, width: number, size: number): string {
  const letters = Math.floor(width / (0.56 * size));
  return content.length > letters ? `${content.slice(0, letters - 1)}…` : content;
}

export const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Text for XML: signs escaped, characters that XML forbids replaced. */
export function escapeXml(content: string): string {
  const signs: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return content
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (sign) => signs[sign]!);
}

/** A whole drawing with its title. */
export function drawing(width: number, height: number, title: string, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...content,
    '</svg>',
  ].join('\n');
}

const LIGHT = [244, 246, 248];
const MIDDLE = [240, 152, 62];
const DARK = [122, 18, 48];

/** A colour from light over orange to dark red, for a value from 0 to 1. */
export function heat(value: number): string {
  const x = Math.min(1, Math.max(0, value));
  const [a, b, part] = x < 0.5 ? [LIGHT, MIDDLE, 2 * x] : [MIDDLE, DARK, 2 * x - 1];
  return `rgb(${a.map((from, i) => Math.round(from + part * (b[i]! - from))).join(',')})`;
}
