/** Columns of the walks that `hsn encode` writes: a table with just these is known as its own. */
export const WALK_COLUMNS = ['walk', 'probability', 'steps', 'text'] as const;
/** The same where the least certain are marked. */
export const MARKED_WALK_COLUMNS = ['walk', 'probability', 'steps', 'unsure', 'text'] as const;

/** Whether a table has just the columns of one of them. */
export const isWalkTable = (names: readonly string[]): boolean =>
  [WALK_COLUMNS, MARKED_WALK_COLUMNS].some((columns) => columns.join('\t') === names.join('\t'));
