import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkpointSteps, Run } from '@hidden-schema/hsn';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { tinyLanguageFlags, tinySentences } from '@hidden-schema/testing/tiny-texts';
import type { Fault, Tally } from './tally.ts';

interface Edit {
  file: string;
  /** What the text becomes; nothing: the file is removed. */
  change: (text: string) => string | undefined;
  /** What is said of it. */
  said: RegExp;
}

const set = (file: string, from: string | RegExp, to: string, said: RegExp): Edit => ({
  file,
  change: (text) => {
    const changed = text.replace(from, to);
    assert.notEqual(changed, text, `${file} has no ${from}`);
    return changed;
  },
  said,
});

/** Every file that a continued training on texts reads, and settings of every kind. */
const edits: readonly Edit[] = [
  set(
    'config.yaml',
    /(^training:[\s\S]*?\n {2}rate:).*/m,
    '$1 0.5',
    /config\.yaml: training\.rate: [\d.e-]+ → 0\.5/,
  ),
  set('tokenizer.json', /"(\w{3})"/, '"$1$1"', /tokenizer\.json: sha256 \w{12}… → \w{12}…/),
  set('config.yaml', /^seed: .*/m, 'seed: 77', /config\.yaml: seed: 1 → 77/),
  set('config.yaml', /steps: 6/, 'steps: 9', /config\.yaml: training\.steps: 6 → 9/),
  set('config.yaml', /wordDropout: .*/, 'wordDropout: 0.9', /config\.yaml: decoder\.wordDropout: .* → 0\.9/),
  set('run.json', /"fingerprint": "../, '"fingerprint": "zz', /run\.json: corpus\.fingerprint: \w+… → zz/),
  set('run.json', /"sentences": \d+/, '"sentences": 7', /run\.json: text\.sentences: \d+ → 7/),
  set('corpus.tsv', /cat/, 'cow', /corpus\.tsv: sha256 \w{12}… → \w{12}…/),
  set('manifest.json', /seed: 1/, 'seed: 2', /manifest\.json: is damaged, expected it as it was written/),
  { file: 'manifest.json', change: () => undefined, said: /manifest\.json: cannot be read \(ENOENT/ },
  { file: 'tokenizer.json', change: () => undefined, said: /tokenizer\.json: cannot be read \(ENOENT/ },
];

/** Row 29: a run whose files were edited is not continued, and says which. */
async function edited(tally: Tally): Promise<void> {
  const run = await textRun(tally);
  for (const edit of edits.slice(0, tally.count(edits.length, 2)))
    await tally.expect(`${edit.file}: ${edit.said.source}`, () => refused(run, edit));
  await tally.expect('as it was, it goes on', async () => {
    assert.equal((await hsn('verify', run)).code, 0);
    const { code, stderr } = await hsn('train', '--out', run, '--resume');
    assert.equal(code, 0, stderr);
  });
  await tally.expect('--force goes on with an edit, which is the run’s own from then on', async () => {
    write(run, set('config.yaml', /steps: 6/, 'steps: 7', /./));
    const { code, stdout, stderr } = await hsn('train', '--out', run, '--resume', '--force');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /run finished at step 7/);
    assert.equal((await hsn('verify', run)).code, 0);
    assert.equal((await hsn('train', '--out', run, '--resume')).code, 0);
  });
  await tally.expect('the best checkpoint', () => otherBest(run));
  await tally.expect('a run of 0.1.0, of which nothing was recorded', () => oldRun(tally));
}

/** Trained on texts from standard input, so that all kinds of files are in it. */
async function textRun(tally: Tally): Promise<string> {
  process.env.HSN_CACHE = tally.path('cache');
  const out = tally.path('run');
  const args = ['train', '--corpus', '-', '--input-format', 'tsv', '--out', out];
  const child = new HsnProcess([...args, ...tinyLanguageFlags], 'pipe');
  child.child.stdin!.end(`${tinySentences().join('\n')}\n`);
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
  return out;
}

function write(run: string, { file, change }: Edit): () => void {
  const target = path.join(run, file);
  const before = fs.readFileSync(target, 'utf8');
  const after = change(before);
  if (after === undefined) fs.rmSync(target);
  else fs.writeFileSync(target, after);
  return () => fs.writeFileSync(target, before);
}

async function refused(run: string, edit: Edit): Promise<void> {
  const restore = write(run, edit);
  const before = snapshot(run);
  try {
    const resumed = await hsn('train', '--out', run, '--resume');
    assert.equal(resumed.code, 1);
    assert.match(resumed.stderr, /was edited since it was trained:/);
    assert.match(resumed.stderr, edit.said);
    assert.throws(() => Run.open(run, { write: true }), edit.said);
    const verified = await hsn('verify', run);
    assert.equal(verified.code, 1);
    assert.match(verified.stdout, edit.said);
    assert.equal(snapshot(run), before);
  } finally {
    restore();
  }
}

const snapshot = (run: string): string =>
  fs
    .readdirSync(run)
    .filter((name) => fs.statSync(path.join(run, name)).isFile())
    .map((name) => `${name}: ${fs.readFileSync(path.join(run, name), 'base64')}`)
    .join('\n');

async function otherBest(run: string): Promise<void> {
  const [first, ...others] = checkpointSteps(Run.open(run));
  const file = path.join(run, 'checkpoints', 'best.json');
  const { step } = JSON.parse(fs.readFileSync(file, 'utf8')) as { step: number };
  const other = step === first ? others.at(-1) : first;
  fs.writeFileSync(file, JSON.stringify({ step: other }));
  const verified = await hsn('verify', run);
  assert.equal(verified.code, 1);
  assert.match(
    verified.stdout,
    new RegExp(`names step ${other}, but the last checkpoint says that step ${step}`),
  );
  assert.equal((await hsn('train', '--out', run, '--resume')).code, 0);
  assert.equal((await hsn('verify', run)).code, 0);
}

async function oldRun(tally: Tally): Promise<void> {
  const kept = fileURLToPath(new URL('../fixtures/runs', import.meta.url));
  fs.cpSync(kept, tally.path('old'), { recursive: true });
  const run = tally.path('old', 'synthetic-0.1.0');
  assert.match((await hsn('verify', run)).stdout, /note: .* were not recorded when it was made/);
  const { code, stderr } = await hsn('train', '--out', run, '--resume');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /its settings and files were not recorded when it was made/);
  const restore = write(run, set('config.yaml', /^seed: .*/m, 'seed: 99', /./));
  assert.match((await hsn('train', '--out', run, '--resume')).stderr, /config\.yaml: seed: \d+ → 99/);
  restore();
}

export const faults: readonly Fault[] = [{ row: 29, fault: 'files of a run edited by hand', inject: edited }];
