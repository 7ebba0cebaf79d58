import type { SchemaProcessName } from './names.ts';
import type { SchemaProcessMaker } from './process.ts';
import { treeProcess } from './tree.ts';
import { walkProcess } from './walk.ts';

/** Schema processes by the name that `walk.process` has: a new one is a file, a line here, and its name in names.ts. */
export const schemaProcesses: Record<SchemaProcessName, SchemaProcessMaker> = {
  walk: walkProcess,
  tree: treeProcess,
};
