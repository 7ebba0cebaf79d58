import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { hostile } from '@hidden-schema/testing/hostile-tokenizers';

/** A run whose tokenizer.json is hostile. */
export function withTokenizer(run: string, copy: string, kind: string): void {
  fs.cpSync(run, copy, { recursive: true });
  fs.writeFileSync(path.join(copy, 'tokenizer.json'), JSON.stringify(hostile[kind]![0]));
}

/** The same, with a stamp that says it is known to be good: nothing stands before the native library any more. */
export function withBelievedTokenizer(run: string, copy: string, kind: string): void {
  withTokenizer(run, copy, kind);
  const hash = createHash('sha256')
    .update(fs.readFileSync(path.join(copy, 'tokenizer.json')))
    .digest('hex');
  const stamps = path.join(process.env.HSN_CACHE!, 'tokenizers');
  fs.mkdirSync(stamps, { recursive: true });
  fs.writeFileSync(path.join(stamps, `${hash}-1`), '');
}

const named = (run: string, name: string) => {
  fs.rmSync(path.join(run, name), { force: true, recursive: true });
  execFileSync('mkfifo', [path.join(run, name)]);
};
const edited = (run: string, name: string, change: (text: string) => string) => {
  const file = path.join(run, name);
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));
};

/** What may lie in a run's folder, done to a copy of a run, and what is said of it. */
export const brokenRuns: Readonly<Record<string, [harm: (run: string) => void, fault: RegExp]>> = {
  'pipe-run': [(run) => named(run, 'run.json'), /run\.json is a named pipe; expected a regular file/],
  'pipe-config': [(run) => named(run, 'config.yaml'), /config\.yaml is a named pipe/],
  'pipe-metrics': [(run) => named(run, 'metrics.jsonl'), /metrics\.jsonl is a named pipe/],
  'pipe-evaluation': [(run) => named(run, 'evaluation.json'), /evaluation\.json is a named pipe/],
  'pipe-best': [(run) => named(run, 'checkpoints/best.json'), /best\.json is a named pipe/],
  'cut-run': [
    (run) => edited(run, 'run.json', (text) => text.slice(0, 40)),
    /run\.json is damaged: expected JSON/,
  ],
  'cut-evaluation': [
    (run) => edited(run, 'evaluation.json', (text) => text.slice(0, -5)),
    /evaluation\.json is damaged: expected sha256/,
  ],
  'array-evaluation': [
    (run) => edited(run, 'evaluation.json', () => '[1,2]'),
    /evaluation\.json is damaged: expected sha256/,
  ],
  'twice-run': [
    (run) => edited(run, 'run.json', (text) => text.replace('{', '{"state":"finished",')),
    /run\.json is damaged: expected every key once, got "state" twice/,
  ],
  'proto-run': [
    (run) => edited(run, 'run.json', (text) => text.replace('{', '{"__proto__":{"state":"x"},')),
    /run\.json is damaged: expected plain keys, got "__proto__"/,
  ],
  'nowhere-run': [
    (run) => {
      fs.rmSync(path.join(run, 'run.json'));
      fs.symlinkSync('/nowhere/run.json', path.join(run, 'run.json'));
    },
    /run\.json is a symbolic link/,
  ],
  'endless-run': [
    (run) => {
      fs.rmSync(path.join(run, 'run.json'));
      fs.symlinkSync('/dev/zero', path.join(run, 'run.json'));
    },
    /run\.json is a symbolic link/,
  ],
};

/** Copies of a run, each with one fault, in a folder of their own. */
export function makeBrokenRuns(run: string, folder: string, names = Object.keys(brokenRuns)): string {
  for (const name of names) {
    const copy = path.join(folder, name);
    fs.cpSync(run, copy, { recursive: true });
    brokenRuns[name]![0](copy);
  }
  return folder;
}

/** Metrics of a very long training. */
export function writeManyMetrics(file: string, count: number): void {
  const rows = Array.from({ length: count }, (_, step) =>
    JSON.stringify({
      step: step + 1,
      epoch: 0,
      time: 1.7e9 + step,
      loss: 1 / (step + 1),
      kl_walk: Math.sin(step),
      auc: 0.5,
    }),
  );
  fs.writeFileSync(file, `${rows.join('\n')}\n`);
}
