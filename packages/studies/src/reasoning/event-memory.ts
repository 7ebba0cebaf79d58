import { rememberedVectors } from '@hidden-schema/hsn/discovery/vectors/text-vectors';
import { type OpenedReasoning, prefixTable, runTuples } from '@hidden-schema/hsn/tasks/tuples/open';
import { openTrainedWalks } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import { eventVectors, TrainedWalks } from '@hidden-schema/hsn/tasks/tuples/trained-walks';
import { TupleTable } from '@hidden-schema/hsn/tasks/tuples/tuples';
import { TupleWalks } from '@hidden-schema/hsn/tasks/tuples/walks';
import type { EncoderPrecision, Tensor } from '@hidden-schema/torch';
import { openPretrainedText } from '@hidden-schema/transformers/pretrained';

/**
 * Events that answers are remembered from. Weights are fitted on valid events with those of training alone; valid events
 * may join once nothing more is chosen on them.
 */
export const memories = ['train', 'train,valid'] as const;

export const precisions = ['float32', 'bfloat16', 'int8'] as const satisfies readonly EncoderPrecision[];

export interface MemoryOptions {
  splits?: (typeof memories)[number];
  /** What makes vectors of events, by name or folder; the run's own encoder unless given. */
  encoder?: string;
  /** Arithmetic of an encoder that is named. */
  precision?: EncoderPrecision;
}

/** Known tuples with vectors of their events, and what makes those of new ones. */
export interface EventMemory {
  known: TrainedWalks;
  /** Unit vectors. [B, D] */
  vectors(events: readonly string[]): Promise<Tensor>;
}

/** Tokens of an event that its vector is made of. */
const LONGEST = 64;

/** `opened` has counted its training walks. */
export async function openMemory(
  opened: OpenedReasoning,
  { splits = 'train', encoder, precision = 'float32' }: MemoryOptions,
): Promise<EventMemory> {
  const vectors = encoder === undefined ? ownVectors(opened) : await vectorsBy(encoder, precision);
  const trained = openTrainedWalks(opened)!;
  if (splits === 'train' && encoder === undefined) return { known: trained, vectors };
  const table = withValid(opened, trained, splits);
  trained.free();
  const relations = table.relations.map((relation) => opened.relations.indexOf(relation));
  const known = new TrainedWalks({
    events: table.heads,
    objects: table.objects,
    event: Int32Array.from(table.head),
    relation: Int32Array.from(table.relation, (relation) => relations[relation]!),
    object: Int32Array.from(table.object),
    // Answers are remembered without walks.
    walks: new Int32Array(0),
    vectors: await vectors(table.heads),
  });
  return { known, vectors };
}

function withValid(
  opened: OpenedReasoning,
  { count, events, event, relation, objects, object }: TrainedWalks,
  memory: MemoryOptions['splits'],
): TupleTable {
  const table = new TupleTable();
  for (let tuple = 0; tuple < count; tuple++)
    table.add({
      head: events[event[tuple]!]!,
      relation: opened.relations[relation[tuple]!]!,
      object: objects[object[tuple]!]!,
    });
  if (memory === 'train') return table;
  const { table: all, splits } = runTuples(opened, undefined, { none: 'drop' });
  for (const row of splits.valid) table.add(all.tuple(row));
  return table;
}

const ownVectors = (opened: OpenedReasoning) => async (events: readonly string[]) => {
  const relation = opened.relations[0]!;
  const tokens = await prefixTable(
    opened,
    events.map((head) => ({ head, relation, object: '' })),
  );
  const walks = new TupleWalks(opened.model, tokens);
  const vectors = eventVectors(walks, tokens, Int32Array.from(events.keys()));
  walks.free();
  return vectors;
};

async function vectorsBy(name: string, precision: EncoderPrecision) {
  const opened = await openPretrainedText(name);
  opened.encoder.precision = precision;
  return (events: readonly string[]) => rememberedVectors(events, opened, { longest: LONGEST });
}
