import { GroupError } from '../errors.ts';

/** Where a process stands in its group, and where the group meets. */
export interface Place {
  readonly rank: number;
  readonly size: number;
  /** Of the machine of rank 0. */
  readonly address: string;
  readonly port: number;
}

/** torch's own, where MASTER_PORT is not given. */
const usualPort = 29500;

/** The place that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT give, as torch's launchers set them; nothing without them. */
export function placeOf(environment: NodeJS.ProcessEnv): Place | undefined {
  const { RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT } = environment;
  if (RANK === undefined && WORLD_SIZE === undefined) return undefined;
  if (RANK === undefined || WORLD_SIZE === undefined)
    throw new GroupError(
      `${RANK === undefined ? 'WORLD_SIZE is set and RANK is not' : 'RANK is set and WORLD_SIZE is not'}: set both to train in several processes, or neither`,
    );
  const size = whole('WORLD_SIZE', WORLD_SIZE, 1, 1_000_000);
  const rank = whole('RANK', RANK, 0, size - 1);
  const port = MASTER_PORT === undefined ? usualPort : whole('MASTER_PORT', MASTER_PORT, 1, 65_535);
  if (!MASTER_ADDR && size > 1)
    throw new GroupError('MASTER_ADDR is not set: expected the address of the machine where rank 0 runs');
  return { rank, size, address: MASTER_ADDR || '127.0.0.1', port };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new GroupError(`${name} is "${text}": expected a whole number from ${least} to ${most}`);
}
