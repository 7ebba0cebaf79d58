import {
  bestStep,
  checkpointSteps,
  verifyCheckpoint,
  whichCheckpoint,
} from '@hidden-schema/hsn/run/checkpoint';
import { Run } from '@hidden-schema/hsn/run/run';
import { ENCODED_FORMAT, type EncodedManifest } from '../texts/encoded-writer.ts';
import type { SymbolMeaning } from './meaning.ts';
import { suggestedNames, symbolNames } from './names.ts';

export const MEANINGS_FORMAT = 3;
export const MEANINGS_FILE = 'analysis/symbols.json';

/** What symbols mean, as it lies in a run. */
export interface StoredMeanings {
  format: number;
  created: string;
  step: number;
  /** Encoded sentences it was made from. */
  sentences: number;
  symbols: SymbolMeaning[];
}

/** What symbols mean at a step, from so many encoded sentences; nothing where that is not stored. */
export function readMeanings(
  { run, step }: { run: Run; step: number },
  sentences: number,
): SymbolMeaning[] | undefined {
  const stored = run.files.readIfWhole<StoredMeanings>(MEANINGS_FILE);
  const same =
    stored?.format === MEANINGS_FORMAT &&
    stored.created === run.identity &&
    stored.step === step &&
    stored.sentences === sentences;
  return same ? stored.symbols : undefined;
}

/**
 * What symbols mean, read from the files of a run alone: its model is not opened, nor anything worked out. Nothing where
 * that was not stored for its checkpoint, of fewer sentences than `limit`, or where a file that it was made of is damaged.
 */
export function meaningsAtHand(
  directory: string,
  { checkpoint, limit = 0 }: { checkpoint: string; limit?: number | undefined },
): SymbolMeaning[] | undefined {
  const run = Run.open(directory);
  const which = whichCheckpoint(checkpoint);
  const step = which === 'best' ? bestStep(run) : which === 'last' ? checkpointSteps(run).at(-1) : which;
  const manifest = run.files.readIfWhole<EncodedManifest>('analysis/encoded.json');
  const known =
    step !== undefined &&
    manifest?.format === ENCODED_FORMAT &&
    manifest.created === run.identity &&
    manifest.step === step &&
    manifest.count >= Math.min(limit, manifest.total);
  const found = known ? readMeanings({ run, step }, manifest.count) : undefined;
  return found && isWhole(run, step!) ? renamed(found, run) : undefined;
}

/** Whether what meanings were made of is as it was written: the checkpoint, and the encoded sentences. */
function isWhole(run: Run, step: number): boolean {
  try {
    verifyCheckpoint(run, step);
    for (const ending of ['jsonl', 'bin']) run.files.check(`analysis/encoded.${ending}`);
    return true;
  } catch {
    return false;
  }
}

/** Symbols may have been named since. */
export function renamed(symbols: readonly SymbolMeaning[], run: Run): SymbolMeaning[] {
  const names = symbolNames(run);
  const name = <T extends { symbol: number; name: string | null }>(of: T): T => ({
    ...of,
    name: names.get(of.symbol) ?? null,
  });
  const said = suggestedNames(run);
  return symbols.map((one) => {
    const { description } = said.get(one.symbol) ?? {};
    const named = { ...name(one), neighbours: one.neighbours.map(name) };
    return description === undefined ? named : { ...named, description };
  });
}
