import type { Command } from 'commander';
import * as evaluate from './reason-eval.ts';
import * as generate from './reason-generate.ts';
import * as train from './reason-train.ts';

const examples = `
Examples:
  $ hsn reason train --tuples atomic --out run                       step I: read tuples into walks
  $ hsn reason train --part path --run run                           step II: learn to go on from first halves
  $ hsn reason train --part path --run run --set path.kind=transformer
  $ hsn reason train --part comet --tuples atomic --out comet        the same decoder without walks
  $ hsn reason eval run --comet comet --limit 500
  $ hsn reason generate run "PersonX goes home" --relation xWant     step III: new objects

Tuples are a file or a folder of head<TAB>relation<TAB>tail lines (as in ATOMIC-2020), or ATOMIC's own CSV.
`;

export function register(program: Command): void {
  const command = program
    .command('reason')
    .summary('commonsense reasoning on walks: tuples in, new objects out')
    .description(
      'If-Then reasoning (Section 6): encode tuples as walks, learn to continue walks, write new objects.',
    )
    .addHelpText('after', examples);
  for (const verb of [train, evaluate, generate]) verb.register(command);
}
