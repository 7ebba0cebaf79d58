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

/** A fault when shares of splits are no three of which the first is above 0; `example` is one of such. */
export function splitFaults(split: readonly number[], example: string): Fault[] {
  const good = split.length === 3 && split.every((share) => share >= 0 && share < Number.POSITIVE_INFINITY);
  if (good && split[0]! > 0) return [];
  const text = `expected three shares for train, valid and test with train above 0, such as ${example}, got ${split.join(',')}`;
  return [{ setting: 'split', text }];
}

/** A fault when `value` is not a whole number in the range. */
export function wholeNumberFault(setting: string, value: number, low: number, high: number): Fault[] {
  if (Number.isInteger(value) && value >= low && value <= high) return [];
  return [{ setting, text: `expected a whole number from ${low} to ${high}, got ${value}` }];
}
