import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder for one test file; `remove` belongs into its afterAll. */
export function temporaryFolder(name: string): { path: (...names: string[]) => string; remove: () => void } {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), `hsn-${name}-`));
  return {
    path: (...names) => path.join(root, ...names),
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}
