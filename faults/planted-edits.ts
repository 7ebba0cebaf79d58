// A discovered run that edits can be done to, and what of it an edit decides.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Random } from '@hidden-schema/base';
import { checkpointSteps, loadCheckpoint, Run, verifyRun } from '@hidden-schema/hsn';
import { namedSymbols } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { type Subject, subjects } from '@hidden-schema/testing/planted-subjects';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import type { Tally } from './tally.ts';

export const SYMBOLS = 6;

/** Discovered on texts of three subjects; `more` are two files of others to add. */
export interface PlantedRun {
  run: string;
  more: [string, string];
  /** The symbol that most texts begin with. */
  largest: string;
}

/** Lines of label, year, text: enough of them that a symbol can be split. */
function plantedRows(): string[] {
  const random = new Random(6);
  return Array.from({ length: 260 }, (_, n) => {
    const subject = (Object.keys(subjects) as Subject[])[n % 3]!;
    const words = Array.from({ length: 6 }, () => subjects[subject][random.int(10)]!);
    return `${subject},${1990 + (n % 9)},the ${words.join(' and ')}`;
  });
}

/** Makes the run; with `steps` its decoder is trained so far, and it is evaluated. */
export async function plantRun(tally: Tally, steps = 0): Promise<PlantedRun> {
  process.env.HSN_CACHE = tally.path('cache');
  const rows = plantedRows();
  const part = (name: string, from: number, to: number) =>
    writeTexts(tally.path(name), ['label,year,text', ...rows.slice(from, to)]);
  const corpus = part('texts.csv', 0, 200);
  const run = tally.path('planted');
  const settings = [
    ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
    ...[`training.steps=${steps || 2}`, 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
  ].flatMap((setting) => ['--set', setting]);
  const { code, stderr } = await hsn(
    ...['train', '--corpus', corpus, '--time-column', 'year', '--out', run, '--length', '3'],
    ...['--symbols', String(SYMBOLS), ...(steps === 0 ? ['--stage', 'discover'] : []), ...settings],
  );
  assert.equal(code, 0, stderr);
  // So that copies do not read texts again.
  const { stdout } = await hsn('symbols', run, '--json');
  const shares = (JSON.parse(stdout) as { usageByPosition: number[] }[]).map(
    (one) => one.usageByPosition[0]!,
  );
  const largest = String(shares.indexOf(Math.max(...shares)));
  return { run, largest, more: [part('more-1.csv', 200, 230), part('more-2.csv', 230, 260)] };
}

/** A copy of a run, in place of one that was there. */
export function copyRun(from: string, to: string): string {
  fs.rmSync(to, { recursive: true, force: true });
  fs.cpSync(from, to, { recursive: true });
  return to;
}

/** What edits decide of a run: symbols, weights, names that people gave, texts. Refused where it is not whole. */
export function stateOf(run: string): string {
  assert.deepEqual(verifyRun(run).faults, []);
  const opened = Run.open(run);
  const { text } = opened.record as { text?: { more?: string[]; sentences: number } };
  const weights = checkpointSteps(opened).map((step) => {
    const { model } = loadCheckpoint(opened, step);
    for (const [name, tensor] of model) {
      const numbers = tensor.toNumbers();
      assert.ok(
        numbers.every((number) => Number.isFinite(number)),
        `${name} of step ${step} is not finite`,
      );
      tensor.free();
    }
    const file = opened.path('checkpoints', `step-${step}`, 'model.safetensors');
    return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  });
  return JSON.stringify({
    symbols: (opened.config as { symbols?: number }).symbols,
    weights,
    names: [...namedSymbols(run)].sort(([a], [b]) => a - b),
    more: (text?.more ?? []).map((file) => path.basename(file)),
    sentences: text?.sentences,
  });
}

/** Every file below a folder with its content; links are not followed. */
export function contentsOf(folder: string, leave: RegExp = /$^/): Record<string, string> {
  const all = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    all
      .filter((name) => !leave.test(name))
      .map((name) => {
        const stat = fs.lstatSync(path.join(folder, name));
        if (stat.isSymbolicLink()) return [name, `→ ${fs.readlinkSync(path.join(folder, name))}`];
        return [name, stat.isFile() ? fs.readFileSync(path.join(folder, name), 'base64') : ''];
      }),
  );
}
