import { describe, expect, test } from 'vitest';
import { groups } from '../../../faults/main.ts';
import { runFault } from '../../../faults/tally.ts';

/** A hundredth of the full counts, and at least one of each. */
const share = 0.01;
/** Rows that whole files of tests cover already, or that take a minute even so. */
const elsewhere = new Set([4, 6, 37, 38]);
/** Milliseconds: some rows install packages, or wait until a process counts as lost. */
const longest = 600_000;

const loaded = await Promise.all(Object.values(groups).map((load) => load()));
const faults = loaded
  .flatMap((group) => group.faults)
  .filter(({ row }) => !elsewhere.has(row) && (row < 13 || row > 20));

/** Injects a hundredth of the rows from `first` to `last`; in three files, which run at once. */
export function testRows(first: number, last: number): void {
  const some = faults.filter(({ row }) => row >= first && row <= last);
  describe(`the fault table, a hundredth of rows ${first} to ${last}`, () => {
    test.each(some)(
      'row $row: $fault',
      async (fault) => {
        const said: string[] = [];
        const { injected, survived, notes = [] } = await runFault(fault, share, (line) => said.push(line));
        expect(said.filter((line) => line.includes('not survived'))).toEqual([]);
        expect(survived).toBe(injected);
        // A small disk needs root; a row that could not be injected says so.
        if (injected === 0) expect(notes.join()).toContain('not injected');
      },
      longest,
    );
  });
}
