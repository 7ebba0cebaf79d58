import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, jsonText, UserError, writeSynced } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import { dumpConfig, languageConfig } from '../../config/settings.ts';
import { bestStep, checkpointSteps, loadCheckpoint, saveElsewhere } from '../../run/checkpoint.ts';
import { BEST } from '../../run/checkpoint-folder.ts';
import {
  type EditNote,
  type EditRecord,
  editFolder,
  editsIn,
  stateBefore,
  undoLast,
} from '../../run/edits.ts';
import { Run } from '../../run/run.ts';
import { writeRunManifest } from '../../run/run-manifest.ts';
import { pursues } from './discovery.ts';
import { changedTensors, type SymbolChange } from './edited-tensors.ts';

export interface SymbolEditing extends SymbolChange {
  /** In a line, for `hsn undo` and people. */
  what: string;
  /** Further files of the run that change with its symbols, by name. */
  files?: Readonly<Record<string, string>>;
  /** More for run.json. */
  record?: Readonly<Record<string, JsonValue>>;
}

/** Refuses a run whose symbols cannot be edited. */
export function checkEditable(run: Run): void {
  const config = languageConfig(run.config, `the run ${run.directory}`);
  if (!pursues(config))
    throw new UserError(
      `${run.directory} reads walks with queries of its own for each symbol, which cannot be merged or split; discover symbols with: hsn train --stage discover`,
    );
}

/**
 * Changes the symbols of a run on disk, in all of its checkpoints, whole or not at all. The decoder reads symbols as
 * vectors, so that one that was trained goes on with those there are now.
 */
export async function editSymbols(directory: string, editing: SymbolEditing): Promise<EditRecord> {
  const run = Run.open(directory, { write: true });
  try {
    checkEditable(run);
    const { what, origins } = editing;
    return await editFolder(run.directory, { what, origins } satisfies EditNote, (draft) =>
      writeEdited(run, editing, draft),
    );
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
  if (best !== undefined) writeSynced(path.join(checkpoints, BEST), jsonText({ step: best }));
  for (const [name, text] of Object.entries(editing.files ?? {})) writeSynced(path.join(draft, name), text);
  writeSynced(path.join(draft, 'config.yaml'), dumpConfig(config));
  writeSynced(path.join(draft, 'run.json'), jsonText(record as unknown as JsonValue));
  writeRunManifest(draft, config, record, [run.directory]);
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
    await saveElsewhere(folder, step, { ...made, state: saved.state });
  } finally {
    for (const tensors of [made.model, made.optimizer, saved.model, saved.optimizer])
      for (const tensor of tensors?.values() ?? []) tensor.free();
  }
}

/** Takes the last edit of a run back; `prepare` may put right what the state before has, such as names given since. */
export function undoEdit(directory: string, prepare: (before: string, edit: EditRecord) => void): EditRecord {
  const run = Run.open(directory, { write: true });
  try {
    refuseTrained(run, directory);
    return undoLast(run.directory, prepare);
  } finally {
    run.close();
  }
}

/** Undoing would throw away what was trained since. */
function refuseTrained(run: Run, shown: string): void {
  const last = editsIn(run.directory).at(-1);
  if (!last) return;
  const before = checkpointSteps(run, stateBefore(run.directory, last));
  const since = checkpointSteps(run).find((step) => !before.includes(step));
  if (since !== undefined)
    throw new UserError(
      `${shown} was trained on to step ${since} since it was edited, which undoing would lose; copy the run first and remove checkpoints/step-${since} from it, or leave it as it is`,
    );
}
