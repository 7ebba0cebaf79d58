import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, jsonText, UserError, writeSynced } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import { usesPursuit } from '../../config/language.ts';
import { dumpConfig, languageConfig } from '../../config/settings.ts';
import { BEST, bestStep, bestText, checkpointSteps, loadCheckpoint } from '../../run/checkpoint.ts';
import { saveElsewhere } from '../../run/checkpoint-writer.ts';
import { type EditRecord, RunChanged } from '../../run/edit-record.ts';
import { editFolder, editsIn, stateBefore, undoLast } from '../../run/edits.ts';
import { Run } from '../../run/run.ts';
import { manifestText } from '../../run/run-record.ts';
import { brokenTensor } from '../../train/updater.ts';
import { changedTensors, type SymbolChange } from './edited-tensors.ts';

export interface SymbolEditing extends SymbolChange {
  /** In a line, for `hsn undo` and people. */
  what: string;
  /** Texts of further files of the run that change with its symbols, by name; asked for when nobody changes them. */
  files?: () => Readonly<Record<string, string>>;
  /** More for run.json. */
  record?: Readonly<Record<string, JsonValue>>;
}

/** Refuses a run whose symbols cannot be edited. */
export function checkEditable(run: Run): void {
  const config = languageConfig(run.config, `the run ${run.directory}`);
  if (!usesPursuit(config))
    throw new UserError(
      `${run.directory} reads walks with queries of its own for each symbol, which cannot be merged or split; discover symbols with: hsn train --stage discover`,
    );
}

/**
 * Changes the symbols of a run on disk, in all of its checkpoints, whole or not at all. The run is locked before `compute`
 * reads it, so that the edit is one of what is there. The decoder reads symbols as vectors, so that one that was trained
 * goes on with those there are now. `identity` is that of the run whose symbols' numbers were given, where they were.
 */
export async function editSymbols(
  directory: string,
  compute: (run: Run) => Promise<SymbolEditing>,
  identity?: string,
): Promise<EditRecord> {
  const run = await Run.openToEdit(directory);
  try {
    if (identity !== undefined && identity !== run.identity) throw new RunChanged(directory);
    checkEditable(run);
    const editing = await compute(run);
    const { what, origins, files } = editing;
    return await editFolder(run.files, {
      ...{ what, origins, identity: run.identity },
      ...(files ? { late: files } : {}),
      fill: (draft) => writeEdited(run, editing, draft),
    });
  } finally {
    run.close();
  }
}

async function writeEdited(run: Run, editing: SymbolEditing, draft: string): Promise<void> {
  const config = { ...languageConfig(run.config), symbols: editing.origins.length };
  const record = { ...run.record, ...editing.record, edited: new Date().toISOString() };
  const checkpoints = path.join(draft, 'checkpoints');
  fs.mkdirSync(checkpoints);
  for (const step of checkpointSteps(run)) await writeCheckpoint(run, step, editing, checkpoints);
  const best = bestStep(run);
  if (best !== undefined) writeSynced(path.join(checkpoints, BEST), bestText(best));
  writeSynced(path.join(draft, 'config.yaml'), dumpConfig(config));
  writeSynced(path.join(draft, 'run.json'), jsonText(record as unknown as JsonValue));
  writeSynced(path.join(draft, 'manifest.json'), manifestText(run.files, config, record));
}

async function writeCheckpoint(run: Run, step: number, change: SymbolChange, folder: string): Promise<void> {
  const saved = loadCheckpoint(run, step);
  if (saved.step !== step) throw new UserError(saved.notes.join('; '));
  const made = scope(() => {
    const model = changedTensors(saved.model, change);
    const optimizer = saved.optimizer && changedTensors(saved.optimizer, change);
    for (const tensors of [model, optimizer]) for (const tensor of tensors?.values() ?? []) tensor.keep();
    return { model, ...(optimizer ? { optimizer } : {}) };
  });
  try {
    const broken = brokenTensor([...made.model, ...(made.optimizer ?? [])]);
    if (broken !== undefined)
      throw new UserError(
        `the edit would put numbers that are not finite into ${broken} of step ${step}; nothing was changed`,
      );
    await saveElsewhere(folder, step, { ...made, state: saved.state });
  } finally {
    for (const tensors of [made.model, made.optimizer, saved.model, saved.optimizer])
      for (const tensor of tensors?.values() ?? []) tensor.free();
  }
}

/** Takes the last edit of a run back; `carry` gives texts of files that the state before lacks, such as names given since. */
export async function undoEdit(
  directory: string,
  carry: (run: Run, edit: EditRecord) => Readonly<Record<string, string>>,
  identity?: string,
): Promise<EditRecord> {
  const run = await Run.openToEdit(directory, { undoing: true });
  try {
    if (identity !== undefined && identity !== run.identity) throw new RunChanged(directory);
    checkUndoable(run, directory);
    return undoLast(run.files, (edit) => carry(run, edit));
  } finally {
    run.close();
  }
}

/** Where nothing was edited there is nothing to undo; undoing would throw away what was trained since. */
function checkUndoable(run: Run, shown: string): void {
  const last = editsIn(run.files).at(-1);
  if (!last) throw new UserError(`${shown} has no edit to undo: nothing was merged, split, updated or named`);
  // Names alone leave the checkpoints as they are.
  if (!last.came.includes('checkpoints')) return;
  const before = checkpointSteps(run, stateBefore(last));
  const since = checkpointSteps(run).find((step) => !before.includes(step));
  if (since !== undefined)
    throw new UserError(
      `${shown} was trained on to step ${since} since it was edited, which undoing would lose; copy the run first and remove checkpoints/step-${since} from it, or leave it as it is`,
    );
}
