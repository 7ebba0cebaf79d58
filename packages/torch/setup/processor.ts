import type { Machine } from './machine.ts';

/** ELF's numbers of the processors that libtorch is built for, by Node's names. */
const elfMachines: Readonly<Record<string, number>> = {
  ia32: 3,
  arm: 40,
  ppc64: 21,
  s390x: 22,
  x64: 62,
  arm64: 183,
  riscv64: 243,
};

/** The processor that a library is for; nothing where it is no ELF file. */
export function builtFor(machine: Machine, library: string): string | undefined {
  const head = machine.head(library, 20);
  if (head.length < 20 || head[0] !== 0x7f || head[1] !== 0x45 || head[2] !== 0x4c || head[3] !== 0x46)
    return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // The sixth byte says which end of a number comes first.
  const number = view.getUint16(18, head[5] !== 2);
  return Object.keys(elfMachines).find((name) => elfMachines[name] === number) ?? `ELF machine ${number}`;
}
