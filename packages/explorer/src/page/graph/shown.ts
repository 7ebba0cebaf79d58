import type { ViewState } from '../state.ts';

export type Shown = ViewState['show'];

/** The network alone where there are no texts. */
export const shownOf = (asked: Shown, hasTexts: boolean): Shown => (hasTexts ? asked : 'graph');
