import { createHash } from 'node:crypto';
import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { editsIn, stateBefore } from '@hidden-schema/hsn/run/edits';
import { runLayout } from '../symbols/layout.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { storeIfWritable } from '../texts/encoded-writer.ts';
import { placeTexts } from '../texts/text-places.ts';

const FORMAT = 1;
const FILE = 'analysis/text-map.json';
/** Places are whole numbers from 0 to this. */
const FINEST = 65_535;
/** Of a step that tells nothing, so that every text has a place. */
const LEAST_WEIGHT = 1e-3;

interface Stored {
  format: number;
  created: string;
  step: number;
  count: number;
  /** Hash of the texts, so that an edit of symbols leaves every text where it is. */
  texts?: string;
  /** Base64 of x and y of each text, 16 bits each, the lower byte first. */
  places: string;
}

/**
 * The one map of a run's encoded texts: x and y of each in turn, from 0 to 65535. Made once for the same texts and stored
 * in `analysis/text-map.json`; edits of symbols keep it.
 */
export function textMap(opened: OpenedRun, encoded: EncodedCorpus): Uint16Array {
  const { run, step } = opened;
  const known = readStored(run, encoded, step);
  if (known) return known;
  const { walks, symbols, length } = encoded;
  const places = placeTexts({ walks, weights: weightsOf(encoded), symbols, length }, runLayout(opened));
  const fine = Uint16Array.from(places, (value) => Math.round(value * FINEST));
  if (run.state !== 'running') {
    const bytes = Buffer.from(fine.buffer, fine.byteOffset, fine.byteLength);
    const key = { format: FORMAT, created: run.identity, step, count: encoded.count };
    storeIfWritable(run, FILE, { ...key, texts: hashOf(encoded), places: bytes.toString('base64') });
  }
  return fine;
}

/** How much each step tells of its text; all alike where the model does not say. [N, L] */
function weightsOf(encoded: EncodedCorpus): Float32Array {
  const weights = new Float32Array(encoded.count * encoded.length).fill(1);
  for (const { index, weights: stepWeights } of encoded.sentences())
    stepWeights?.forEach((weight, step) => {
      weights[index * encoded.length + step] = Math.max(LEAST_WEIGHT, weight);
    });
  return weights;
}

function readStored(
  { files, identity }: OpenedRun['run'],
  encoded: EncodedCorpus,
  step: number,
): Uint16Array | undefined {
  const earlier = editsIn(files).map((edit) => path.posix.join(...stateBefore(edit), FILE));
  const file = [FILE, ...earlier.reverse()].find((name) => files.exists(...name.split('/')));
  const stored = file === undefined ? undefined : files.readIfWhole<Stored>(file);
  if (stored?.format !== FORMAT || typeof stored.places !== 'string') return undefined;
  if (stored.step !== step || stored.count !== encoded.count) return undefined;
  const bytes = Buffer.from(stored.places, 'base64');
  if (bytes.length !== 4 * encoded.count) return undefined;
  const same =
    stored.created === identity || (stored.texts !== undefined && stored.texts === hashOf(encoded));
  return same ? new Uint16Array(Uint8Array.from(bytes).buffer) : undefined;
}

function hashOf(encoded: EncodedCorpus): string {
  const hash = createHash('sha256');
  for (const { text } of encoded.sentences()) hash.update(text).update('\0');
  return hash.digest('hex');
}
