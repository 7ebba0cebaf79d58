const counted = { reads: 0, numbers: 0 };

/** Notes that numbers of a tensor came to JavaScript, or to the CPU: off the CPU, all work before has to end first. */
export function countHostRead(numbers: number): void {
  counted.reads++;
  counted.numbers += numbers;
}

/** How often numbers were read out of tensors since this thread began, and how many. */
export const hostReads = (): Readonly<typeof counted> => ({ ...counted });
