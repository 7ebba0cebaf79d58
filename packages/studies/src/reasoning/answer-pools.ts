import { tupleFrames } from '@hidden-schema/hsn/tasks/tuples/build';
import { searchObjects } from '@hidden-schema/hsn/tasks/tuples/object-search';
import { type OpenedReasoning, prefixTable } from '@hidden-schema/hsn/tasks/tuples/open';
import { readObjects, scoreWithoutWalks, scoreWithWalks } from '@hidden-schema/hsn/tasks/tuples/path/judged';
import type { Reasoner } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import type { WalkPath } from '@hidden-schema/hsn/tasks/tuples/path/walk-path';
import type { TupleTokens } from '@hidden-schema/hsn/tasks/tuples/tokens';
import { TupleWalks } from '@hidden-schema/hsn/tasks/tuples/walks';
import { distinctAnswers } from '../measures/recall.ts';
import type { Question } from './answers.ts';
import { EventEvidence } from './event-evidence.ts';
import type { EventMemory } from './event-memory.ts';
import type { NearEvent } from './neighbourhood.ts';

/**
 * What speaks for an object, as log-probabilities: near events' objects; the relation's objects; a classifier of events'
 * vectors; a network's path to the object's walk; the decoder from that walk; COMET without walks.
 */
export const answerParts = ['near', 'common', 'classified', 'learned', 'writer', 'comet'] as const;
export type AnswerPart = (typeof answerParts)[number];

/** An object that may answer a question, with what each part says of it. */
export interface PooledObject {
  object: string;
  scores: Partial<Record<AnswerPart, number>>;
  /** The walk that the object is read into, and log p of its second half by counts. */
  walk: number[];
  walkLogProb: number;
  /** BLEU-2 that it is foreseen to have. */
  expected: number;
}

/** A question with the objects that may answer it. */
export interface AnswerPool extends Question {
  objects: PooledObject[];
  near: NearEvent[];
  /** The first half of the question's walk. */
  first: readonly number[];
}

/** Objects that decoders write: from so many walks, so many of each. */
const WRITTEN_WALKS = 3;
const WRITTEN_WORDS = 5;
/** The least that a path or a decoder says of an object: a step without a link has no probability. */
const LEAST = -25;

/** Collects the objects that may answer questions, and what each part says of them. */
export class AnswerPools {
  readonly reasoner: Reasoner;
  readonly #learned: WalkPath | undefined;
  readonly #comet: OpenedReasoning | undefined;
  readonly #events: EventEvidence;

  /** `reasoner` has the counted path; `learned` is a network's path on the same walks. */
  constructor(
    reasoner: Reasoner,
    memory: EventMemory,
    { learned, comet }: { learned?: WalkPath; comet?: OpenedReasoning } = {},
  ) {
    this.reasoner = reasoner;
    this.#learned = learned;
    this.#comet = comet;
    this.#events = new EventEvidence(memory, reasoner.relations.length);
  }

  /** The first halves of events' walks. */
  async firstHalves(asked: readonly { head: string; relation: string }[]): Promise<number[][]> {
    const { opened } = this.reasoner;
    const tokens = await prefixTable(
      opened,
      asked.map((one) => ({ ...one, object: '' })),
    );
    const walks = new TupleWalks(opened.model, tokens);
    try {
      return walks.first(Int32Array.from(asked.keys()), 'best');
    } finally {
      walks.free();
    }
  }

  async of(questions: readonly Question[]): Promise<AnswerPool[]> {
    const { opened, walks } = this.reasoner;
    const tuples = questions.map(({ head, relation }) => ({ head, relation, object: '' }));
    const tokens = await prefixTable(opened, tuples);
    const rows = Int32Array.from(questions.keys());
    const numbered = questions.map(({ head, relation }) => ({
      head,
      relation: this.reasoner.relations.indexOf(relation),
    }));
    const evidence = await this.#events.of(numbered);
    const written = await this.#written(questions, tokens, rows);
    const asked = questions.map(({ head, relation }, i) => {
      const own = evidence[i]!.objects;
      const objects = distinctAnswers([...own, ...written[i]!], own.length + written[i]!.length);
      return { head, relation, objects };
    });
    const pooled = asked.map(({ objects }) => objects);
    const expected = await this.#events.expected(numbered, pooled);
    const read = await readObjects(opened, asked);
    const judged = scoreWithWalks(this.reasoner.path, read);
    const learned = this.#learned && scoreWithWalks(this.#learned, read);
    const plain = this.#comet && (await scoreWithoutWalks(this.#comet, asked));
    return questions.map((question, i) => {
      const first = judged[i]![0]?.walk.slice(0, walks.half) ?? [];
      const { near, scores: scoresFor } = evidence[i]!;
      const byComet = new Map((plain?.[i] ?? []).map(({ object, score }) => [object, score]));
      const byNetwork = new Map((learned?.[i] ?? []).map((one) => [one.object, one.walkLogProb]));
      const objects = judged[i]!.map(({ object, walk, walkLogProb, objectLogProb }) => {
        const [network, comet] = [byNetwork.get(object), byComet.get(object)];
        const scores = {
          ...scoresFor(object),
          writer: objectLogProb,
          ...(network === undefined ? {} : { learned: Math.max(LEAST, network) }),
          ...(comet === undefined ? {} : { comet }),
        };
        return { object, walk, walkLogProb, scores, expected: expected[i]!.get(object)! };
      });
      return { ...question, objects, near, first };
    });
  }

  /** What the decoder writes from likely paths, and COMET without. */
  async #written(questions: readonly Question[], tokens: TupleTokens, rows: Int32Array): Promise<string[][]> {
    const words = { how: 'beam', count: WRITTEN_WORDS } as const;
    const found = await this.reasoner.continued(tokens, rows, { how: 'beam', count: WRITTEN_WALKS, words });
    const comet = this.#comet;
    if (!comet) return found.map((some) => some.map(({ object }) => object));
    const own = await prefixTable(
      comet,
      questions.map(({ head, relation }) => ({ head, relation, object: '' })),
    );
    const writer = { tokenizer: comet.tokenizers.decoder, frame: tupleFrames(comet.tokenizers).decoder };
    const prompts = questions.map((_, row) => ({ prompt: own.prompt(row) }));
    const plain = await searchObjects(comet.model, writer, prompts, {
      how: 'beam',
      count: WRITTEN_WALKS * WRITTEN_WORDS,
    });
    return found.map((some, i) => [
      ...some.map(({ object }) => object),
      ...plain[i]!.map(({ text }) => text),
    ]);
  }
}
