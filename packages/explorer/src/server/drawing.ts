export type Link = [i: number, j: number, probability: number];

/** Links less probable than this are never shown. */
export const LEAST_PROBABILITY = 0.01;
/** More links than this help nobody to see, and slow every page. */
export const MOST_LINKS = 50_000;
