import { readJsonFile, writeJsonAtomic } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import { placeTexts } from '../evaluation/text-places.ts';
import type { EncodedCorpus } from './encoded.ts';
import { runLayout } from './layout.ts';

const FORMAT = 1;
/** Places are whole numbers from 0 to this. */
const FINEST = 65_535;
/** Of a step that tells nothing, so that every text has a place. */
const LEAST_WEIGHT = 1e-3;

interface Stored {
  format: number;
  created: string;
  step: number;
  count: number;
  /** Base64 of x and y of each text, 16 bits each, the lower byte first. */
  places: string;
}

/**
 * The one map of a run's encoded texts: x and y of each in turn, from 0 to 65535. Made once for a checkpoint and stored
 * in `analysis/text-map.json`.
 */
export function textMap(opened: OpenedRun, encoded: EncodedCorpus): Uint16Array {
  const { run, step } = opened;
  const file = run.path('analysis', 'text-map.json');
  const known = readStored(file, { created: run.identity, step, count: encoded.count });
  if (known) return known;
  const { walks, symbols, length } = encoded;
  const places = placeTexts({ walks, weights: weightsOf(encoded), symbols, length }, runLayout(opened));
  const fine = Uint16Array.from(places, (value) => Math.round(value * FINEST));
  if (run.state !== 'running') {
    const bytes = Buffer.from(fine.buffer, fine.byteOffset, fine.byteLength);
    const key = { format: FORMAT, created: run.identity, step, count: encoded.count };
    store(file, { ...key, places: bytes.toString('base64') });
  }
  return fine;
}

/** How much each step tells of its text; all alike where the model does not say. [N, L] */
function weightsOf(encoded: EncodedCorpus): Float32Array {
  const weights = new Float32Array(encoded.count * encoded.length).fill(1);
  for (const { index, weights: told } of encoded.sentences())
    told?.forEach((weight, step) => {
      weights[index * encoded.length + step] = Math.max(LEAST_WEIGHT, weight);
    });
  return weights;
}

function readStored(
  file: string,
  wanted: Pick<Stored, 'created' | 'step' | 'count'>,
): Uint16Array | undefined {
  try {
    const { format, created, step, count, places } = readJsonFile<Stored>(file);
    const same =
      format === FORMAT && created === wanted.created && step === wanted.step && count === wanted.count;
    const bytes = Buffer.from(places, 'base64');
    return same && bytes.length === 4 * count ? new Uint16Array(Uint8Array.from(bytes).buffer) : undefined;
  } catch {
    return undefined;
  }
}

function store(file: string, map: Stored): void {
  try {
    writeJsonAtomic(file, { ...map });
  } catch {
    // A run that may only be read is placed again, and alike, the next time.
  }
}
