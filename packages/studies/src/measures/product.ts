/** Π p_i, as of the steps of a walk: its probability. */
export const product = (values: readonly number[]): number => values.reduce((all, value) => all * value, 1);
