import { wholeNumber } from '@hidden-schema/cli/text-flags';
import type { ReproduceFlags } from './reproduce.ts';

/** What perplexity is estimated from: test sentences, walks and graphs of each. */
export interface Look {
  limit: number;
  walks: number;
  graphs: number;
}

const fullLook: Look = { limit: 2000, walks: 100, graphs: 10 };

/** As the flags say; where they say nothing, the sizes of a quick look with --quick, or those of a full one. */
export async function lookOf(flags: ReproduceFlags, quickLook: Look): Promise<Look> {
  const usual = flags.quick ? quickLook : fullLook;
  return {
    limit: (await wholeNumber('--limit', flags.limit)) ?? usual.limit,
    walks: (await wholeNumber('--walks', flags.walks)) ?? usual.walks,
    graphs: (await wholeNumber('--graphs', flags.graphs)) ?? usual.graphs,
  };
}
