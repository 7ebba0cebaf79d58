/** One thing wrong with a setting. */
export interface Fault {
  setting: string;
  text: string;
}

/** Faults as one message: a line alone, or a list. */
export function faultMessage(faults: readonly Fault[], prefix = ''): string {
  const lines = faults.map((fault) => `${prefix}${fault.setting}: ${fault.text}`);
  return lines.length === 1
    ? lines[0]!
    : `${lines.length} faults:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** A fault when `value` is not a whole number in the range. */
export function wholeNumberFault(setting: string, value: number, low: number, high: number): Fault[] {
  if (Number.isInteger(value) && value >= low && value <= high) return [];
  return [{ setting, text: `expected a whole number from ${low} to ${high}, got ${value}` }];
}
