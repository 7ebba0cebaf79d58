import { EngineError } from './errors.ts';
import { native } from './native.ts';

/** The libtorch that runs, and what it runs on. */
export interface EngineInfo {
  version: string;
  threads: number;
  devices: string[];
  /** Whether it was built with CUDA, which graphics cards need; there may be none. */
  cuda: boolean;
  parallel: string;
  config: string;
}

/** Which libtorch is loaded, with what threads and devices. */
export function engineInfo(): EngineInfo {
  const { cudaDevices, ...rest } = native.info();
  // libtorch itself says that it has no CUDA where it finds no driver.
  const cuda = cudaDevices > 0 || /\bUSE_CUDA=(?:1|ON)\b/.test(rest.config);
  return { ...rest, cuda, devices: ['cpu', ...Array.from({ length: cudaDevices }, (_, i) => `cuda:${i}`)] };
}

/** Sets how many threads operators and matrix products use in this process. */
export function setThreads(count: number): void {
  if (!Number.isInteger(count) || count < 1)
    throw new RangeError(`threads are a whole number from 1, got ${count}`);
  native.threads(count);
}

/** Tensors that this thread holds now, and the bytes they own. */
export function liveTensors(): { tensors: number; bytes: number } {
  return native.counters();
}

/** What a user may ask for: `auto` is a graphics card, or the CPU where there is none. */
const devicePattern = /^(?:cpu|auto|cuda(?::\d+)?)$/;

let current: string | undefined;

/** Where tensors are made unless their maker is told otherwise: on the CPU, or where HSN_DEVICE says, at first. */
export function defaultDevice(): string {
  current ??= chooseDevice(process.env.HSN_DEVICE || 'cpu', process.env.LOCAL_RANK);
  return current;
}

/** Makes tensors on any device of libtorch from now on, `meta` too; returns where they were made until now. */
export function exchangeDevice(device: string): string {
  const before = defaultDevice();
  current = device;
  return before;
}

/** Makes all tensors of this thread on the device that a user asks for, from now on; returns that device. */
export function useDevice(asked: string): string {
  current = chooseDevice(asked, process.env.LOCAL_RANK);
  return current;
}

/**
 * The device that a setting names on this machine. `cuda` is the card of this process's rank among those of its machine
 * (LOCAL_RANK), or the first.
 */
function chooseDevice(asked: string, localRank = '0'): string {
  if (!devicePattern.test(asked))
    throw new EngineError(`device: expected cpu, cuda, cuda:<number> or auto, got ${asked}`);
  if (asked === 'cpu') return asked;
  const { cuda, devices } = engineInfo();
  const cards = devices.length - 1;
  if (asked === 'auto') return cards > 0 ? `cuda:${Number(localRank) % cards}` : 'cpu';
  const device = asked === 'cuda' ? `cuda:${localRank}` : asked;
  if (Number(device.slice('cuda:'.length)) < cards) return device;
  throw new EngineError(`device ${asked} cannot be used: ${missingCard(device, cuda, cards)}`);
}

function missingCard(device: string, cuda: boolean, cards: number): string {
  if (!cuda)
    return 'this libtorch was built without CUDA; build with one that has it (docs/guides/scaling.md), or take --device cpu';
  if (cards === 0)
    return 'libtorch has CUDA, but finds no graphics card or driver; take --device cpu, or see what nvidia-smi says';
  return `this machine has ${cards} graphics ${cards === 1 ? 'card' : 'cards'}, and ${device} is not one of them (numbers begin at 0)`;
}
