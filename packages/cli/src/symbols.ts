import { answerNamed, type Special } from './analysis-verb.ts';

/** `hsn symbols RUN` lists all; a symbol after the run, or --levels, asks about one of them, or about groups. */
export const special: Special = {
  extend: (command) =>
    void command
      .argument('[symbol]', 'one symbol, by number or name')
      .option('--levels <counts>', 'merge symbols into so many groups, one or more levels: 5,10,20'),
  instead: async (directory, words, flags) => {
    if (words[0] === undefined && flags.levels === undefined) return false;
    if (words[0] === undefined) return answerNamed('levels', directory, [], flags);
    const { UserError } = await import('@hidden-schema/base');
    if (flags.levels !== undefined)
      throw new UserError('--levels is about all symbols; leave out the number of one');
    return answerNamed('meaning', directory, words, flags);
  },
};
