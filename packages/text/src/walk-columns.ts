/** Columns of the walks that `hsn encode` writes, in their order. */
const COLUMNS = ['walk', 'names', 'probability', 'steps', 'unsure', 'text'] as const;
/** Those that are written only where they are asked for. */
const ON_REQUEST = ['names', 'unsure'] as const;

export type WalkColumn = (typeof COLUMNS)[number];
export type RequestedWalkColumn = (typeof ON_REQUEST)[number];

/** The columns of a table of walks, with those that were asked for. */
export function walkColumns(requested: readonly RequestedWalkColumn[]): WalkColumn[] {
  const leftOut: readonly WalkColumn[] = ON_REQUEST.filter((name) => !requested.includes(name));
  return COLUMNS.filter((name) => !leftOut.includes(name));
}

/** Whether a table has just the columns that `hsn encode` writes: it is then known as its own. */
export function isWalkTable(names: readonly string[]): boolean {
  const requested = ON_REQUEST.filter((name) => names.includes(name));
  return walkColumns(requested).join('\t') === names.join('\t');
}
