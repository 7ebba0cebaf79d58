import type { SchemaProcessMaker } from './process.ts';
import { treeProcess } from './tree.ts';
import { walkProcess } from './walk.ts';

/** Schema processes by the name that `walk.process` has: a new one is a file and a line here. */
export const schemaProcesses = {
  walk: walkProcess,
  tree: treeProcess,
} satisfies Record<string, SchemaProcessMaker>;

type SchemaProcessName = keyof typeof schemaProcesses;
export const schemaProcessNames = Object.keys(schemaProcesses) as [SchemaProcessName, ...SchemaProcessName[]];
