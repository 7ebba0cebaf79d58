/** Told apart on light and on dark ground; communities beyond these are grey. */
const communities = [
  ...['#3b7dd8', '#e08a2c', '#3f9b6c', '#c4569b', '#7b61c9', '#1fa3a8', '#c9563c', '#a08a16'],
  ...['#5d8c2f', '#b06f4b'],
];
export const communityColour = (community: number): string => communities[community] ?? '#8590a0';

/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [number, number, number];

export const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};
export const css = (tone: Rgb): string => `rgb(${tone.join(',')})`;

/** Symbols of a community share its hue; these parts of white, or of black where below zero, tell them apart. */
const SHADES = [0, 0.34, -0.26, 0.17, -0.13, 0.48, -0.36];

/** A colour for each symbol, near that of its community. */
export function symbolTones(communityOf: readonly number[]): Rgb[] {
  const seen = new Map<number, number>();
  return communityOf.map((community) => {
    const rank = seen.get(community) ?? 0;
    seen.set(community, rank + 1);
    const shade = SHADES[rank % SHADES.length]!;
    const [towards, share] = shade < 0 ? [0, -shade] : [255, shade];
    const [red, green, blue] = rgbOf(communityColour(community));
    const mix = (value: number) => Math.round(value * (1 - share) + towards * share);
    return [mix(red), mix(green), mix(blue)];
  });
}
