/** Columns of the walks that `hsn encode` writes: a table with just these is known as its own. */
export const WALK_COLUMNS = ['walk', 'probability', 'steps', 'text'] as const;
