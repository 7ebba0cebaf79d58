import type { Command } from 'commander';

interface Verb {
  register(program: Command): void;
}

/** The verb of the paper's experiments, which the repository has; elsewhere one that says so. */
export async function reproduceVerb(): Promise<Verb> {
  const { hasPaper, paperModule } = await import('@hidden-schema/base/paper-module');
  const load = (): Promise<Verb> => paperModule<Verb>('verb/reproduce.ts', 'hsn reproduce');
  return hasPaper() ? load() : { register: (program) => registerRefusal(program, load) };
}

function registerRefusal(program: Command, refuse: () => Promise<unknown>): void {
  program
    .command('reproduce')
    .summary('tables and figures of the paper; in the repository only')
    .description(
      'Tables and figures of the paper. They come with the repository and not with the npm package.',
    )
    .argument('[name...]', 'what to reproduce')
    .allowUnknownOption()
    .action(async () => {
      await refuse();
    });
}
