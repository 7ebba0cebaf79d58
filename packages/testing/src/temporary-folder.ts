import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

interface TemporaryFolder {
  path: (...names: string[]) => string;
  /** Has everything cached in here until `remove`. */
  holdCache: () => void;
  remove: () => void;
}

/** A folder for one test file; `remove` belongs into its afterAll. */
export function temporaryFolder(name: string): TemporaryFolder {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), `hsn-${name}-`));
  let release = () => {};
  return {
    path: (...names) => path.join(root, ...names),
    holdCache: () => {
      const before = process.env.HSN_CACHE;
      process.env.HSN_CACHE = path.join(root, 'cache');
      release = () => {
        if (before === undefined) delete process.env.HSN_CACHE;
        else process.env.HSN_CACHE = before;
      };
    },
    remove: () => {
      release();
      fs.rmSync(root, { recursive: true, force: true });
    },
  };
}
