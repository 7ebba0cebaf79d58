// Names symbols one after another: node --import tsx renamer.ts <run> <first> <count>
import { renameSymbol } from '@hidden-schema/studies';

const [directory, first, count] = process.argv.slice(2);
process.stdout.write('ready\n');
// All begin at once.
process.stdin.once('data', () => {
  for (let i = 0; i < Number(count); i++)
    renameSymbol(directory!, Number(first) + i, `name ${Number(first) + i}`);
  process.exit();
});
