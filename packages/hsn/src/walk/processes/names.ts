/** What `walk.process` may be. Names alone, so that settings are read without the engine; the registry has the processes. */
export const schemaProcessNames = ['walk', 'tree'] as const;
export type SchemaProcessName = (typeof schemaProcessNames)[number];
