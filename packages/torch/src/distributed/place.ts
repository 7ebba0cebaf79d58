import { once } from 'node:events';
import { createServer } from 'node:net';
import { GroupError } from '../errors.ts';

/** Where a process stands in its group, and where the group meets. */
export interface Place {
  readonly rank: number;
  readonly size: number;
  /** Of the machine of rank 0. */
  readonly address: string;
  readonly port: number;
  /** The address on which rank 0 listens; that of the group where it is not given. */
  readonly listen?: string;
  /** Seconds to wait for the others at the start, and for a sign of life later where that is less than 30. */
  readonly patience?: number;
}

/** torch's own, where MASTER_PORT is not given. */
const usualPort = 29500;

/** Enough for machines that start at different times, short enough for a user who waits. */
export const usualPatience = 300;

/**
 * The place that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT give, as torch's launchers set them; nothing without
 * them. HSN_LISTEN and HSN_PATIENCE are this program's own.
 */
export function placeOf(environment: NodeJS.ProcessEnv): Place | undefined {
  const { RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, HSN_LISTEN, HSN_PATIENCE } = environment;
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
  const address = MASTER_ADDR || '127.0.0.1';
  const patience =
    HSN_PATIENCE === undefined ? usualPatience : whole('HSN_PATIENCE', HSN_PATIENCE, 1, 86_400);
  return { rank, size, address, port, listen: HSN_LISTEN || address, patience };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new GroupError(`${name} is "${text}": expected a whole number from ${least} to ${most}`);
}

/** A port of this machine on which nobody listens, for a group that meets here. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
