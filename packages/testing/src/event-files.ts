import { checkEvents, type TrainingEvent } from '@hidden-schema/hsn/run/events';

// What TensorBoard makes of the event files that are written; the program itself only writes them.

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const START = 1;

interface EventFile {
  events: TrainingEvent[];
  /** Bytes up to the first record that is cut or damaged; the file's size when there is none. */
  validBytes: number;
  size: number;
}

/** Reads an event file up to a cut or damaged tail. */
export function readEvents(file: string): EventFile {
  const events: TrainingEvent[] = [];
  const found = checkEvents(file, (payload) => events.push(decodeEvent(payload)));
  return { events, ...found };
}

function decodeEvent(bytes: Buffer): TrainingEvent {
  const event: TrainingEvent = { wallTime: 0, step: 0, scalars: {} };
  for (const { number, content, value } of fields(bytes))
    if (number === 1 && content.length === 8) event.wallTime = content.readDoubleLE();
    else if (number === 2) event.step = Number(BigInt.asIntN(64, value));
    else if (number === 3) event.fileVersion = content.toString();
    else if (number === 5) Object.assign(event.scalars, decodeSummary(content));
    else if (number === 7 && fields(content).some((f) => f.number === 1 && f.value === BigInt(START)))
      event.restart = true;

  return event;
}

function decodeSummary(bytes: Buffer): Record<string, number> {
  const pairs = fields(bytes)
    .filter(({ number }) => number === 1)
    .map(({ content }): [string, number | undefined] => {
      const inner = fields(content);
      const tag = inner.find(({ number }) => number === 1)?.content.toString() ?? '';
      const scalar = inner.find(({ number, content }) => number === 2 && content.length === 4);
      return [tag, scalar?.content.readFloatLE()];
    });
  return Object.fromEntries(pairs.filter((pair): pair is [string, number] => pair[1] !== undefined));
}

interface Field {
  number: number;
  content: Buffer;
  value: bigint;
}

/** Fields of one message; unknown ones are passed over by whoever reads them. */
function fields(bytes: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length && shift < 70n; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const wire = key & 7;
    const value = wire === WIRE.varint || wire === WIRE.bytes ? readVarint() : 0n;
    const length = wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : Number(value);
    const content = wire === WIRE.varint ? Buffer.alloc(0) : bytes.subarray(at, at + length);
    if (wire !== WIRE.varint) at += length;
    found.push({ number: key >>> 3, content, value });
  }
  return found;
}
