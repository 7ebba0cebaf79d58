// node --import tsx checks/presets.ts           fails where a file of experiments/ is not what its preset says
// node --import tsx checks/presets.ts --write   writes the presets' files
import fs from 'node:fs';
import path from 'node:path';
import { presetFiles, presetText } from './preset-files.ts';
import { reportFaults } from './source-files.ts';

const folder = 'experiments';
const wanted = new Map(presetFiles.map((file) => [path.join(folder, file.name), presetText(file)]));
const there = fs
  .readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(paper|authors)-/.test(path.basename(name)))
  .map((name) => path.join(folder, name));
const faults: string[] = [];
for (const name of there) {
  if (wanted.has(name)) continue;
  if (process.argv.includes('--write')) fs.rmSync(name);
  else faults.push(`${name} is no preset`);
}
for (const [name, text] of wanted) {
  if (fs.existsSync(name) && fs.readFileSync(name, 'utf8') === text) continue;
  if (process.argv.includes('--write')) fs.writeFileSync(name, text);
  else faults.push(`${name} is not what its preset says: node --import tsx checks/presets.ts --write`);
}
reportFaults(faults);
