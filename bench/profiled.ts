import { operatorTotals, startProfile, stopProfile } from '@hidden-schema/torch/profile';
import { secondsOf } from './measure.ts';

/** Steps before the recording, and in it. */
const [warm, recorded] = [3, 3];
/** Operators that are told. */
const shown = 14;

/** Where the time of some steps goes: operators by their own time, and what is outside of them. */
export function profiledSteps(what: string, step: () => void): string {
  for (let at = 0; at < warm; at++) step();
  startProfile();
  const seconds = secondsOf(() => {
    for (let at = 0; at < recorded; at++) step();
  });
  return totalsText(`${what}: ${recorded} steps`, seconds, operatorTotals(stopProfile()));
}

/** The dearest operators of what took so many seconds. */
export function totalsText(
  what: string,
  seconds: number,
  totals: readonly { name: string; calls: number; milliseconds: number }[],
): string {
  const wall = seconds * 1000;
  const share = (milliseconds: number) => `${((100 * milliseconds) / wall).toFixed(1)} %`.padStart(7);
  const inside = totals.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const lines = totals
    .slice(0, shown)
    .map(
      ({ name, calls, milliseconds }) =>
        `  ${share(milliseconds)} ${milliseconds.toFixed(1).padStart(9)} ms ${String(calls).padStart(7)} calls  ${name}`,
    );
  return `${what}, ${wall.toFixed(0)} ms, ${(100 - (100 * inside) / wall).toFixed(1)} % of it outside of operators\n${lines.join('\n')}\n`;
}
