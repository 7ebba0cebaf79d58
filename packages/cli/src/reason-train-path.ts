import { resolve } from 'node:path';
import { UserError } from '@hidden-schema/base';
import type { OpenedReasoning, PathFigures, ReasoningConfig, Replicas } from '@hidden-schema/hsn';
import { aboveGuessing } from '@hidden-schema/hsn/path/path-accuracy';
import {
  countPath,
  createPathRun,
  PathTask,
  pathFolder,
  preparePath,
} from '@hidden-schema/hsn/path/path-task';
import { corpusPlaces } from '@hidden-schema/hsn/run/corpus-places';
import { Progress } from '@hidden-schema/hsn/run/progress';
import { Run, refuseEdits } from '@hidden-schema/hsn/run/run';
import { checkRunFolder } from '@hidden-schema/hsn/run/run-target';
import { openReasoning, openTuples } from '@hidden-schema/hsn/tasks/tuples/open';
import { type ReasonTrainFlags, reasonSettings, report } from './reason-train-settings.ts';
import { stoppable } from './stopping.ts';
import { live } from './terminal.ts';
import { trainPlan } from './training-run.ts';

/** Trains a path model on the walks of a network. */
export async function trainPath(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  if (!flags.run) throw new UserError("a path model goes on from a network's walks: give --run, its folder");
  const opened = await openReasoning(flags.run);
  if (!flags.force) refuseEdits(opened.run.edits(), flags.run);
  if (opened.config.baseline) throw new UserError(`${flags.run} is COMET, which has no walks`);
  const config = await reasonSettings(file, { ...opened.config, part: 'path' }, [...flags.set, 'part=path']);
  const out = pathFolder(opened.run.directory, config.path.kind);
  const earlier = flags.resume || flags.diagnose ? Run.open(out) : undefined;
  if (!earlier) checkRunFolder(out, flags.force ?? false);
  const tuples = await openTuples(opened, flags.tuples);
  if (config.path.kind === 'counts') return countWalks(config, opened, tuples, flags);
  const reading = progressOf('read walks');
  const prepared = await preparePath(config, opened, tuples, reading.update);
  reading.finish();
  // Other ranks may be other users' processes, who named nothing.
  const path = {
    run: opened.run.directory,
    tuples: resolve(flags.tuples ?? corpusPlaces(opened.run)[0]!),
  };
  const plan = {
    config,
    info: opened.run.record.corpus,
    task: () => new PathTask(prepared, replicas),
    create: () => createPathRun(opened, config, { force: flags.force ?? false }),
    describe: () => {},
    assignment: { config, fingerprint: opened.run.record.corpus.fingerprint, path },
  };
  const asked = { flags, out, earlier, replicas };
  const result = await stoppable((signal) => trainPlan(plan, asked, signal));
  if (result) report(result, flags.run, result.evaluation ? pathText(result.evaluation) : '', out);
}

/** The path model that has nothing to train: one pass over the walks. */
async function countWalks(
  config: ReasoningConfig,
  opened: OpenedReasoning,
  tuples: Awaited<ReturnType<typeof openTuples>>,
  flags: ReasonTrainFlags,
): Promise<void> {
  const reading = progressOf('count walks');
  const figures = countPath(config, opened, { ...tuples, force: flags.force ?? false }, reading.update);
  reading.finish();
  const folder = pathFolder(opened.run.directory, 'counts');
  report({ state: 'finished', step: 0 }, opened.run.directory, pathText(figures), folder);
}

/** Shows how many tuples' walks were read. */
function progressOf(label: string) {
  let shown: Progress | undefined;
  return {
    update: (done: number, total: number) => {
      shown ??= new Progress({ label, total, unit: 'tuples', output: live });
      shown.update(done);
    },
    finish: () => shown?.finish(),
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function pathText(figures: PathFigures): string {
  const rows: [string, string][] = [
    [
      percent(figures.accuracy),
      'of symbols found, each from the true ones before it (the paper: about 58 %)',
    ],
    [percent(figures.accuracy_free), "found, each from the model's own ones before it"],
    [percent(figures.accuracy_walk), 'of second halves found whole'],
    [percent(figures.baseline_previous), 'by the commonest symbol after the true one before it'],
    [percent(aboveGuessing(figures)), 'of the symbols that this guess misses are found'],
    [percent(figures.baseline_majority), 'by the commonest symbol of each step'],
    [figures.accuracy_at.map((share) => (100 * share).toFixed(0)).join(' '), '% step by step'],
  ];
  const width = Math.max(...rows.map(([value]) => value.length));
  const lines = rows.map(([value, meaning]) => `  ${value.padStart(width)}  ${meaning}\n`);
  return `second halves of ${figures.tuples} test tuples, events unseen:\n${lines.join('')}`;
}
