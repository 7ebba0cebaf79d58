import type { Inks } from '../inks.ts';
import { decimal } from '../labels.ts';

export interface Line {
  name: string;
  colour: string;
  x: readonly number[];
  y: readonly number[];
}

const SIZE = { width: 640, height: 360 };
const PLOT = { left: 64, right: 16, top: 40, bottom: 44 };
const TICKS = 5;

/** Curves as the text of an SVG file, for what the page draws on a canvas. */
export function lineSvg(title: string, axis: string, lines: readonly Line[], inks: Inks): string {
  const x = scaleOf(
    lines.flatMap((line) => [...line.x]),
    PLOT.left,
    SIZE.width - PLOT.right,
  );
  const y = scaleOf(
    lines.flatMap((line) => [...line.y]),
    SIZE.height - PLOT.bottom,
    PLOT.top,
  );
  const parts = [
    `<rect width="100%" height="100%" fill="${inks.ground}"/>`,
    text(PLOT.left, 22, title, inks.ink, 'font-weight="600"'),
    ...y.ticks.map((value) => {
      const at = y.place(value).toFixed(1);
      const line = `<path d="M${PLOT.left} ${at}H${SIZE.width - PLOT.right}" stroke="${inks.line}"/>`;
      return line + text(PLOT.left - 8, Number(at) + 4, decimal(value), inks.faint, 'text-anchor="end"');
    }),
    ...x.ticks.map((value) =>
      text(x.place(value), SIZE.height - 24, decimal(value), inks.faint, 'text-anchor="middle"'),
    ),
    text(SIZE.width / 2, SIZE.height - 6, axis, inks.faint, 'text-anchor="middle"'),
    ...lines.map((line) => {
      const points = line.x.map((at, i) => `${x.place(at).toFixed(1)},${y.place(line.y[i]!).toFixed(1)}`);
      return `<polyline points="${points.join(' ')}" fill="none" stroke="${line.colour}" stroke-width="1.75"/>`;
    }),
    ...(lines.length > 1
      ? lines.map((line, at) => text(PLOT.left + 12, PLOT.top + 14 + 16 * at, line.name, line.colour))
      : []),
  ];
  const size = `width="${SIZE.width}" height="${SIZE.height}" viewBox="0 0 ${SIZE.width} ${SIZE.height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="12">${parts.join('')}</svg>`;
}

function scaleOf(values: readonly number[], from: number, to: number) {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const span = most - least || 1;
  const ticks = Array.from({ length: TICKS }, (_, at) => least + (span * at) / (TICKS - 1));
  return { ticks, place: (value: number) => from + ((value - least) / span) * (to - from) };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text with what XML forbids replaced. */
const escaped = (content: string): string =>
  content.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\ufffd').replaceAll(/[&<>"]/g, (letter) => entities[letter]!);

const text = (x: number, y: number, content: string, fill: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${fill}" ${more}>${escaped(content)}</text>`;
