import { tinyPath, tinyReasoning } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../src/run/session.ts';
import { openReasoning, openTuples } from '../src/tasks/tuples/open.ts';
import { readObjects, scoreWithoutWalks, scoreWithWalks } from '../src/tasks/tuples/path/judged.ts';
import { aboveGuessing, type PathFigures } from '../src/tasks/tuples/path/path-accuracy.ts';
import { createPathRun, PathTask, preparePath } from '../src/tasks/tuples/path/path-task.ts';
import { openReasoner, type Reasoner } from '../src/tasks/tuples/path/reasoner.ts';
import { createReasoningRun, prepareReasoning } from '../src/tasks/tuples/prepare.ts';
import { ReasoningTask } from '../src/tasks/tuples/task.ts';

const folder = temporaryFolder('planted');
const corpus = plantedTuples();
const tuples = folder.path('tuples');
const run = folder.path('run');
const quiet = { output: { write: () => true } };
let figures: PathFigures;
let reasoner: Reasoner;

async function trainPath(): Promise<PathFigures> {
  const opened = await openReasoning(run);
  const prepared = await preparePath(tinyPath('lstm'), opened, await openTuples(opened));
  const pathRun = createPathRun(opened, prepared.config);
  try {
    return (await new Session(pathRun, new PathTask(prepared), quiet).train()).evaluation!;
  } finally {
    pathRun.close();
    opened.model.free();
  }
}

beforeAll(async () => {
  writePlanted(tuples, corpus);
  const prepared = await prepareReasoning(tinyReasoning(), tuples);
  const made = createReasoningRun(run, prepared);
  await new Session(made, new ReasoningTask(prepared), quiet).train();
  made.close();
  figures = await trainPath();
  reasoner = await openReasoner(run);
}, 600_000);
afterAll(() => {
  reasoner?.free();
  folder.remove();
});

/** Share of held-out (event, relation) whose first object is the rule's. */
async function recovered(of: Reasoner): Promise<number> {
  let right = 0;
  for (const { head, relation, object } of corpus.test) {
    const [first] = await of.candidates(head, relation, { how: 'beam', count: 3 });
    if (first!.object === object) right++;
  }
  return right / corpus.test.length;
}

describe('objects that follow from the event by a known path', () => {
  test('HSN-AR recovers at least 95 % of the rules for unseen events', async () => {
    expect(corpus.test.length).toBeGreaterThanOrEqual(60);
    expect(await recovered(reasoner)).toBeGreaterThanOrEqual(0.95);
  });

  test('of all objects the right one is ranked first, by the probabilities that the search has', async () => {
    const objects = [...new Set(corpus.train.map(({ object }) => object))];
    const asked = corpus.test.map(({ head, relation }) => ({ head, relation, objects }));
    const judged = scoreWithWalks(reasoner.path, await readObjects(reasoner.opened, asked));
    const right = corpus.test.filter(({ object }, n) => judged[n]![0]!.object === object).length;
    expect(right / corpus.test.length).toBeGreaterThanOrEqual(0.95);
    const { head, relation } = corpus.test[0]!;
    const [first] = await reasoner.candidates(head, relation, { how: 'greedy' });
    const same = judged[0]!.find(({ object }) => object === first!.object)!;
    // Another walk may be that which the object itself is read into.
    const again = await reasoner.candidates(head, relation, { how: 'greedy', along: same.walk });
    expect(again[0]).toMatchObject({ object: same.object, walk: same.walk });
    expect(again[0]!.walkLogProb).toBeCloseTo(same.walkLogProb, 3);
    expect(again[0]!.objectLogProb).toBeCloseTo(same.objectLogProb, 3);
    const plain = await scoreWithoutWalks(reasoner.opened, asked.slice(0, 1));
    expect(plain[0]!.map(({ object }) => object).toSorted()).toEqual(objects.toSorted());
  });

  test('the path model finds more of second halves than counting does', () => {
    expect(figures.accuracy).toBeGreaterThan(figures.baseline_previous + 0.2);
    expect(figures.accuracy_free).toBeGreaterThan(figures.baseline_majority + 0.2);
    expect(aboveGuessing(figures)).toBeGreaterThan(0.5);
    expect(aboveGuessing({ ...figures, accuracy: 0.6, baseline_previous: 0.2 })).toBeCloseTo(0.5);
    expect(figures.accuracy_at).toHaveLength(2);
    expect(figures.tuples).toBe(corpus.test.length);
  });
});
