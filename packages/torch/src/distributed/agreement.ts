import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { GroupError } from '../errors.ts';
import { guardedLater, native } from '../native.ts';
import { type Place, usualPatience } from './place.ts';

/** What all ranks must have in common, by the name under which a user knows it. */
export type GroupConfig = Readonly<Record<string, string>>;

/** What a rank says of itself before it computes with the others. */
interface RankRecord {
  /** The process. */
  readonly name: string;
  readonly terms: GroupConfig;
}

const mostShown = 5;
const pollMs = 20;

/**
 * Exchanges records until all are there and say the same, or the clock shows `until`; the names of the ranks. Whoever
 * finds a fault tells all.
 */
export async function agree(place: Place, until: number, terms: GroupConfig): Promise<string[]> {
  const { rank, size } = place;
  const name = `process ${process.pid} on ${hostname()}`;
  const own: RankRecord = { name, terms: { WORLD_SIZE: String(size), ...terms } };
  if (!(await leave(recordName(rank), JSON.stringify(own)))) {
    const other = JSON.parse((await find(recordName(rank)))!) as RankRecord;
    await refuse(`two processes say that they are rank ${rank}: ${other.name} and ${name}`);
  }
  const records = new Map<number, RankRecord>();
  // Itself before all others: they may be the ones that do not come.
  for (const other of [0, rank, ...Array(size).keys()]) {
    if (records.has(other)) continue;
    records.set(other, other === rank ? own : await recordOf(other, place, until));
    const fault = disagreement(records.get(0)!, records.get(other)!, other);
    if (fault !== undefined) await refuse(fault);
  }
  return Array.from({ length: size }, (_, other) => records.get(other)!.name);
}

/** What rank 0 and another rank say differently, or nothing. */
function disagreement(first: RankRecord, other: RankRecord, rank: number): string | undefined {
  const names = new Set([...Object.keys(first.terms), ...Object.keys(other.terms)]);
  const says = ({ terms }: RankRecord, name: string): string => terms[name] ?? 'nothing';
  const different = [...names].filter((name) => says(first, name) !== says(other, name));
  if (different.length === 0) return undefined;
  const shown = different
    .slice(0, mostShown)
    .map((name) => `${name}: rank 0 says ${says(first, name)}, rank ${rank} says ${says(other, name)}`);
  const more = different.length - shown.length;
  return `ranks disagree on ${shown.join('; on ')}${more > 0 ? `; and on ${more} more` : ''}`;
}

const recordName = (rank: number): string => `record/${rank}`;

async function recordOf(
  rank: number,
  { size, address, port, patience }: Place,
  until: number,
): Promise<RankRecord> {
  for (;;) {
    const text = await find(recordName(rank));
    if (text !== null) return JSON.parse(text) as RankRecord;
    const failure = await find('failure');
    if (failure !== null) throw new GroupError(failure);
    if (performance.now() > until)
      await refuse(
        `rank ${rank} of ${size} did not come to ${address}:${port} within ${patience ?? usualPatience} s; is it started, with the same MASTER_ADDR and MASTER_PORT?`,
      );
    await setTimeout(pollMs);
  }
}

/** Ends the group before it has begun, for this reason. */
async function refuse(reason: string): Promise<never> {
  await leave('failure', reason);
  throw new GroupError(reason);
}

const find = (name: string): Promise<string | null> => guardedLater('group', () => native.groupFind(name));
const leave = async (name: string, text: string): Promise<boolean> =>
  (await guardedLater('group', () => native.groupLeave(name, text))) !== null;
