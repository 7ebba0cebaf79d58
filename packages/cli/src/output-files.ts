import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { Command } from 'commander';

// The one door for files that a verb is asked to write: nothing that it reads, and nothing that a run keeps, is written over.

/** Options that name what a verb writes; whatever else it is given and is there, it reads. */
export const OUTPUT_OPTIONS = ['out', 'export', 'html', 'profile', 'write'] as const;
/** With --force these replace a whole folder. */
const replacing = new Set(['train', 'data', 'synth']);
/** What of a run's folder is for results. */
const results = new Set(['figures', 'report.html']);

let inputs: readonly string[] = [];

/** Notes what a verb reads, and refuses what it is asked to write where that would be lost. */
export async function noteOutputs(command: Command): Promise<void> {
  const options = command.opts() as Record<string, unknown>;
  const writes = OUTPUT_OPTIONS.flatMap((name) => (typeof options[name] === 'string' ? [options[name]] : []));
  const named = Object.entries(options).filter(([name]) => !OUTPUT_OPTIONS.some((one) => one === name));
  const given = [...command.processedArgs, ...named.map(([, value]) => value)].flat();
  const there = given.filter((value): value is string => typeof value === 'string' && fs.existsSync(value));
  inputs = (await Promise.all(there.map(withCorpus))).flat();
  if (writes.length === 0) return;
  const check = await outputCheck();
  for (const target of writes) {
    check(target);
    if (options.force === true && replacing.has(command.name())) await refuseHolding(target);
  }
}

/** A file or folder that is read; of a run, its corpus too. */
async function withCorpus(place: string): Promise<string[]> {
  const { readJsonIfThere } = await import('@hidden-schema/base/files');
  try {
    const record = readJsonIfThere<{ corpus: { directory: string }; text?: { more?: string[] } }>(
      path.join(place, 'run.json'),
    );
    const corpus = record ? [record.corpus.directory, ...(record.text?.more ?? [])] : [];
    return [place, ...corpus.map((file) => path.resolve(place, file))];
  } catch {
    return [place];
  }
}

/** Writes a file that a verb is asked for, whole or not at all. */
export async function writeOutput(file: string, content: string | Uint8Array): Promise<void> {
  (await outputWriter())(file, content);
}

/** The same for those who cannot wait. */
export async function outputWriter(): Promise<(file: string, content: string | Uint8Array) => void> {
  const { writeFileAtomic } = await import('@hidden-schema/base/beside');
  const check = await outputCheck();
  return (file, content) => {
    check(file);
    writeFileAtomic(file, content);
  };
}

/** What refuses a file or folder that must not be written over. */
export async function outputCheck(): Promise<(target: string) => void> {
  const { isRunEntry } = await import('@hidden-schema/hsn/run/run-files');
  const refuse = (target: string, why: string) => {
    throw new UserError(`${target} ${why}; nothing was written, choose another name`);
  };
  return (target) => {
    const stat = fs.statSync(target, { throwIfNoEntry: false });
    const real = realPlace(target);
    if (stat && !stat.isFile() && !stat.isDirectory())
      refuse(target, 'is a device, pipe or socket, and no file');
    for (const input of inputs) {
      if (isSame(real, stat, input)) refuse(target, 'is what is read here');
      const within = stat?.isFile() && isInside(realPlace(input), real) && !isRun(input);
      if (within) refuse(target, `is a file of ${input}, which is read here`);
      if (
        stat?.isFile() &&
        stat.nlink > 1 &&
        isRun(input) &&
        filesIn(input).some((file) => isSame(real, stat, file))
      )
        refuse(target, `is linked with a file of the run ${input}`);
    }
    const run = runAround(real);
    const [first = ''] = run === undefined ? [] : path.relative(run, real).split(path.sep);
    if (run !== undefined && isRunEntry(first) && !results.has(first))
      refuse(target, `belongs to the run ${run}, which keeps ${first} for itself`);
    const asked = runAround(path.resolve(target));
    if (asked !== undefined && run !== realPlace(asked) && path.resolve(target) !== asked)
      refuse(target, `leads out of the run ${asked} through a link`);
  };
}

async function refuseHolding(target: string): Promise<void> {
  const held = inputs.find((input) => isInside(realPlace(target), realPlace(input)));
  if (held !== undefined)
    throw new UserError(
      `${target} holds ${held}, which is read here, so --force will not replace it; choose another folder`,
    );
}

function isSame(real: string, stat: fs.Stats | undefined, other: string): boolean {
  const there = fs.statSync(other, { throwIfNoEntry: false });
  return (
    real === realPlace(other) || (stat !== undefined && there?.dev === stat.dev && there.ino === stat.ino)
  );
}

/** The path without links, as far as it exists. */
function realPlace(file: string): string {
  const whole = path.resolve(file);
  try {
    return fs.realpathSync(whole);
  } catch {
    const above = path.dirname(whole);
    return above === whole ? whole : path.join(realPlace(above), path.basename(whole));
  }
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
}

const isRun = (folder: string): boolean => fs.existsSync(path.join(folder, 'run.json'));

/** The run that holds a file, if one does. */
function runAround(file: string): string | undefined {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (isRun(folder)) return folder;
    if (folder === path.dirname(folder)) return undefined;
  }
}

const filesIn = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [path.join(entry.parentPath, entry.name)] : []));
