import {
  type LanguageRun,
  type OpenedRun,
  open,
  type ReasoningRun,
  type SyntheticRun,
} from '@hidden-schema/hsn/open';
import { type Reasoner, reasonerOf } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import { type LabelMaps, labelMaps } from '@hidden-schema/studies/measures/label-maps';
import { explainerOf } from '@hidden-schema/studies/reasoning/explained';
import type { WalkExplainer } from '@hidden-schema/studies/reasoning/explanation';
import { type AnswerMixture, openMixture } from '@hidden-schema/studies/reasoning/mixture-run';
import { textMap } from '@hidden-schema/studies/runs/text-map';
import { type SymbolMeaning, symbolMeanings } from '@hidden-schema/studies/symbols/meaning';
import { storedMeanings } from '@hidden-schema/studies/symbols/stored-meanings';
import { type EncodedCorpus, encodedCorpus, openEncoded } from '@hidden-schema/studies/texts/encoded';
import { type RunCorpus, runCorpus } from '@hidden-schema/studies/texts/run-corpus';
import { textTimes, timeColumnOf } from '@hidden-schema/studies/texts/text-columns';
import type { Opened } from '../shared/api.ts';
import { type CloseReader, textReader, tokenReader } from './close-reading.ts';
import { Fault } from './fault.ts';
import { textFindings, tokenFindings, tupleFindings } from './findings.ts';
import { View } from './view.ts';

/** What a run may be able to do beside showing its graph. */
export interface Capabilities {
  /** Reads a sentence that someone writes. */
  reader: CloseReader;
  /** Writes from walks, and shows what it attends to meanwhile. */
  writer: LanguageRun;
  /** Sentences of the corpus as they are. */
  sentences: RunCorpus;
  /** Sentences of the corpus with their walks. */
  encoded: EncodedCorpus;
  /** The place of each encoded sentence on the map, x and y in turn. */
  textPlaces: () => Uint16Array;
  /** When each encoded sentence is from, UTC milliseconds, and the column that says so. */
  times: { column: string; times: Float64Array };
  /** Its symbols are vectors among texts, and can be put together and taken apart. */
  levels: true;
  /** Where walks of each label go. */
  labelMaps: () => LabelMaps;
  /** Says what follows an event, and in words where training walks were counted. */
  reasoner: {
    reasoner: Reasoner;
    explainer: WalkExplainer | undefined;
    mixture: AnswerMixture | undefined;
  };
}

/** A run at a checkpoint with what it can do; an ability that it lacks is missing. */
export interface RunView extends Partial<Capabilities> {
  run: OpenedRun;
  view: View;
  corpus: Opened['corpus'];
  /** By which it was trained to reason, be it that it cannot yet. */
  relations?: readonly string[];
  notes: string[];
  close(): void;
}

/** What is shown, with abilities that a request needs; a run that lacks one refuses here. */
export function requireAbilities<A extends keyof Capabilities>(
  shown: RunView,
  ...needed: A[]
): RunView & Pick<Capabilities, A> {
  const lacking = needed.find((ability) => shown[ability] === undefined);
  if (lacking === undefined) return shown as RunView & Pick<Capabilities, A>;
  if (lacking === 'reasoner' && shown.relations)
    throw new Fault(409, 'not_yet', 'this run has no path model yet; hsn reason train makes one');
  throw new Fault(404, 'not_offered', 'this kind of run does not offer that');
}

type Say = (text: string) => void;

/** Sentences that are read while training goes on, and after it, unless more are stored. */
const FEW = 300;
const MANY = 5000;

/** Opens a run of any kind; the only place that looks at which kind it is. */
export async function openShown(directory: string, say: Say): Promise<RunView> {
  say('opening the model');
  const run = await open(directory);
  try {
    if ('baseline' in run.model.config && run.model.config.baseline)
      throw new Fault(
        409,
        'baseline',
        'this run is a baseline: a decoder without symbols, and so without a graph',
      );
    const { corpus, notes } = await corpusOf(run, say);
    if (run.kind === 'language') return await showTexts(run, corpus, notes, say);
    return run.kind === 'reasoning'
      ? await showTuples(run, corpus, notes, say)
      : showTokens(run, corpus, notes);
  } catch (error) {
    run.model.free();
    throw error;
  }
}

const gone: RunCorpus = {
  ...{ labels: [], counts: { train: 0, valid: 0, test: 0 }, notes: [] },
  sentence: () => ({ text: '', label: -1 }),
  close: () => undefined,
};

/** The run's sentences; none where their files are gone, and a note of that. */
async function corpusOf(run: OpenedRun, say: Say): Promise<{ corpus: RunCorpus; notes: string[] }> {
  try {
    const corpus = await runCorpus(run, { onProgress: () => say('opening the corpus') });
    return { corpus, notes: [...run.notes, ...corpus.notes] };
  } catch (error) {
    return { corpus: gone, notes: [...run.notes, (error as Error).message] };
  }
}

function showTokens(run: SyntheticRun, sentences: RunCorpus, notes: string[]): RunView {
  const { directory, fingerprint, vocabulary, length } = run.corpus;
  return {
    ...{ run, notes, sentences, reader: tokenReader(run), close: () => run.model.free() },
    view: new View(run, tokenFindings(run, sentences)),
    corpus: { directory, fingerprint, vocabulary: vocabulary.length, length, sentences: sentences.counts },
  };
}

async function showTexts(
  run: LanguageRun,
  sentences: RunCorpus,
  notes: string[],
  say: Say,
): Promise<RunView> {
  const encoded = await encodedOf(run, say);
  const view = new View(run, textFindings(encoded, await meaningsOf(run, encoded, say)));
  const { times, problem } = await timesOf(run, encoded);
  return {
    ...{ run, view, sentences, encoded, reader: textReader(run), notes: [...notes, ...problem] },
    ...(times ? { times } : {}),
    ...(run.texts.writes ? { writer: run } : {}),
    ...(run.model.encoder.reads === 'points' ? { levels: true } : {}),
    labelMaps: once(() => labelMaps(encoded)),
    textPlaces: once(() => {
      say(`placing ${encoded.count} texts on the map`);
      return textMap(run, encoded);
    }),
    corpus: { ...recordOf(run), sentences: sentences.counts },
    close: () => {
      run.model.free();
      sentences.close();
      encoded.close();
    },
  };
}

async function showTuples(run: ReasoningRun, tuples: RunCorpus, notes: string[], say: Say): Promise<RunView> {
  say('reading tuples');
  const { reasons, problem } = await reasonsOf(run);
  const { findings, labelled } = await tupleFindings(run, tuples, reasons?.explainer);
  return {
    relations: run.relations,
    ...{ run, view: new View(run, findings), labelMaps: once(() => labelMaps(labelled)) },
    corpus: { ...recordOf(run), sentences: gone.counts },
    notes: [...notes, ...problem],
    ...(reasons ? { reasoner: reasons } : {}),
    close: () => (reasons ? reasons.reasoner.free() : run.model.free()),
  };
}

/** What reasons by a run; it can be looked at before a path model was trained. */
async function reasonsOf(run: ReasoningRun) {
  try {
    const reasons: Capabilities['reasoner'] = {
      reasoner: await reasonerOf(run),
      explainer: explainerOf(run),
      mixture: await openMixture(run),
    };
    return { reasons, problem: [] };
  } catch (error) {
    return { reasons: undefined, problem: [(error as Error).message] };
  }
}

/** When texts are from, where the run was told of a column with dates; a note where that cannot be read. */
async function timesOf(run: LanguageRun, encoded: EncodedCorpus) {
  if (timeColumnOf(run) === undefined) return { times: undefined, problem: [] };
  try {
    return { times: await textTimes(run, encoded), problem: [] };
  } catch (error) {
    return { times: undefined, problem: [(error as Error).message] };
  }
}

const recordOf = ({ run, tokenizers }: LanguageRun | ReasoningRun) => ({
  directory: run.record.corpus.directory,
  fingerprint: run.record.corpus.fingerprint,
  vocabulary: tokenizers.decoder.vocabulary,
  length: null,
});

/** Training keeps the machine busy and goes on to the next checkpoint soon: few sentences are read meanwhile. */
async function encodedOf(run: LanguageRun, say: Say): Promise<EncodedCorpus> {
  const limit = run.run.state === 'running' ? FEW : MANY;
  try {
    return await encodedCorpus(run, {
      limit,
      onProgress: (done, total) => say(`reading sentences: ${done} of ${total}`),
    });
  } catch (error) {
    // Where the corpus is gone, what is stored with the run has to do.
    const stored = openEncoded(run);
    if (!stored) throw error;
    return stored;
  }
}

async function meaningsOf(run: LanguageRun, encoded: EncodedCorpus, say: Say): Promise<SymbolMeaning[]> {
  say('finding what symbols mean');
  if (run.run.state === 'running') return symbolMeanings(run, encoded);
  return storedMeanings(run, {
    encoded,
    onProgress: (done, total) => say(`reading attention: ${done} of ${total} sentences`),
  });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
