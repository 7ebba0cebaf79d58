import fs from 'node:fs';
import path from 'node:path';

export interface Asset {
  body: Buffer;
  type: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The built page in memory by address: what is not in it cannot be asked for. */
export function loadAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[path.extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = path.join(entry.parentPath, entry.name);
    const body = fs.readFileSync(file);
    assets.set(`/${path.relative(folder, file).split(path.sep).join('/')}`, { body, type });
  }
  const index = assets.get('/index.html');
  if (index) assets.set('/', index);
  return assets;
}
