// Opens a weight file, says so, and reads a tensor of it again and again until that fails.
import { openSafetensors, scope } from '../src/index.ts';

const weights = openSafetensors(process.argv[2]!);
process.stdout.write('opened\n');
try {
  for (;;) {
    scope(() => weights.get('a').sum().item());
    await new Promise(setImmediate);
  }
} catch (error) {
  process.stdout.write(`${error}\n`);
}
