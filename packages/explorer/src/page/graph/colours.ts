import { css, type Inks as PlainInks, type Rgb, symbolTones } from '@hidden-schema/studies/drawing';
import type { Status } from './scene.ts';

export const statusColours: Record<Exclude<Status, 'plain'>, Rgb> = {
  correct: [59, 125, 216],
  extra: [222, 55, 70],
  missing: [240, 150, 30],
};
const ground = { light: [245, 247, 250], dark: [14, 19, 25] } as const satisfies Record<string, Rgb>;
export const plain = { light: [70, 88, 115], dark: [165, 180, 205] } as const satisfies Record<string, Rgb>;

/** A tone laid thinly on the ground. */
export const mixed = (tone: Rgb, share: number, theme: 'light' | 'dark'): Rgb => {
  const on = (at: 0 | 1 | 2) => Math.round(tone[at] * share + ground[theme][at] * (1 - share));
  return [on(0), on(1), on(2)];
};
export const thinned = (tone: Rgb, share: number, theme: 'light' | 'dark'): string =>
  css(mixed(tone, share, theme));
export const WALK_COLOUR = '#f0a202';
/** A step of a walk where there is no link. */
export const MISSING_COLOUR = '#d8394c';

const greys = { light: '#dde2e8', dark: '#2b323d' } as const;
export const greyOf = (dark: boolean): string => greys[dark ? 'dark' : 'light'];

/** Labels have colours of their own order, so that the first two are far apart. */
const labelColours = [
  ...['#2f6fd0', '#d9622b', '#2f9463', '#b8479a', '#7b61c9', '#0f97a0', '#a08a16', '#c9445a'],
  ...['#5d8c2f', '#8a6f4b', '#5b9bd5', '#e39a4e', '#6fbf8f', '#d98cc0', '#a897dc', '#57b8bd'],
];
/** Further labels go around the circle of hues by the golden angle, in two depths. */
export function labelColour(at: number): string {
  if (at < 0) return '#8590a0';
  return labelColours[at] ?? hexOf((at * 137.508) % 360, at % 2 === 0 ? 0.42 : 0.58);
}

/** A hue in degrees at a lightness, half saturated. */
function hexOf(hue: number, lightness: number): string {
  const reach = 0.55 * Math.min(lightness, 1 - lightness);
  const channel = (shift: number) => {
    const at = (shift + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Of a tone on a dark ground; darker ones would not be seen. */
const LEAST_BRIGHT = 105;
const WHITER = 0.28;

/** A colour for each symbol, near that of its community. */
export const tonesOf = (nodes: readonly { community: number }[], dark: boolean): Rgb[] =>
  symbolTones(nodes.map(({ community }) => community)).map((tone) => {
    const [red, green, blue] = tone;
    if (!dark || 0.3 * red + 0.59 * green + 0.11 * blue >= LEAST_BRIGHT) return tone;
    const lighter = (value: number) => Math.round(value + (255 - value) * WHITER);
    return [lighter(red), lighter(green), lighter(blue)];
  });

export const groundOf = (dark: boolean): Rgb => ground[dark ? 'dark' : 'light'];

/** Colours of drawings, written into them so that a downloaded file looks like the page. */
export interface Inks extends PlainInks {
  accent: string;
}

const inks: Record<'light' | 'dark', Inks> = {
  light: { ground: '#ffffff', ink: '#1c2530', faint: '#5d6a7c', line: '#dfe4ea', accent: '#2563c9' },
  dark: { ground: '#151b23', ink: '#e4eaf2', faint: '#93a1b5', line: '#2a333f', accent: '#6ea8fe' },
};
export const inksOf = (dark: boolean): Inks => inks[dark ? 'dark' : 'light'];

export const FONT = 'system-ui, sans-serif';
