import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf, UserError } from '@hidden-schema/base/errors';
import { oneSymbolEach } from '@hidden-schema/studies/measures/symbol-uses';
import { writeSafetensors } from '@hidden-schema/torch/safetensors/writer';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { z } from 'zod';
import type { FittedTopics } from './topic-models.ts';

// Shapes: N texts, V words, D width of the encoder.

/** Models of others that a Python runs, by the names that `bench/peers/topics.py` has for them. */
const programNames = {
  BERTopic: 'bertopic',
  'BERTopic k-means': 'bertopic-kmeans',
  KeyNMF: 'keynmf',
  Topeax: 'topeax',
  SensTopic: 'senstopic',
  GMM: 'gmm',
  FASTopic: 'fastopic',
} as const;
export type PythonModelName = keyof typeof programNames;
export const pythonModels = Object.keys(programNames) as PythonModelName[];

const program = fileURLToPath(new URL('../../../bench/peers/topics.py', import.meta.url));
const packages = 'bertopic turftopic scikit-learn sentence-transformers safetensors';
const run = promisify(execFile);
/** Of a program's output in bytes: a topic for each of some millions of texts. */
const maxBuffer = 1 << 28;

interface PythonTask {
  python: string;
  texts: readonly string[];
  /** [N, D] */
  vectors: Tensor;
  /** The vocabulary and its vectors by the same encoder, for models that rank words by their vectors. [V, D] */
  words: readonly string[];
  wordVectors: Tensor;
  symbols: number;
  signal?: AbortSignal;
}

const nameSchema = z.enum(Object.values(programNames));
const lineSchema = z.union([
  z.object({ name: nameSchema, error: z.string() }),
  z.object({
    name: nameSchema,
    seconds: z.number().nonnegative(),
    topics: z.array(z.array(z.string())),
    clusters: z.array(z.number().int().min(-1)),
  }),
]);

/** Models that were fitted, and why others were not. */
interface FittedPython {
  fitted: [PythonModelName, FittedTopics][];
  failures: [PythonModelName, reason: string][];
}

/** Refuses a Python that could not run the models, and says how to make one that can. */
export async function checkPython(python: string, signal?: AbortSignal): Promise<void> {
  if (!fs.existsSync(program))
    throw new UserError('--peers works in a checkout of the repository: it needs bench/peers/topics.py');
  try {
    await run(python, [program, '--check'], { ...(signal ? { signal } : {}) });
  } catch (error) {
    signal?.throwIfAborted();
    throw new UserError(
      `--peers: ${python} cannot run BERTopic and Turftopic (${lastLine(error)}); make one that can: python3 -m venv DIR && DIR/bin/pip install ${packages}, then --peers DIR/bin/python`,
    );
  }
}

/** The models of others on the same texts, vectors and words; each with the words that it ranks itself. */
export async function fitPython(task: PythonTask, seed: number): Promise<FittedPython> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-peers-'));
  try {
    const file = (name: string) => path.join(folder, name);
    fs.writeFileSync(file('texts.txt'), lines(task.texts));
    fs.writeFileSync(file('words.txt'), lines(task.words));
    writeSafetensors(file('vectors.safetensors'), [['vectors', task.vectors]]);
    writeSafetensors(file('words.safetensors'), [['vectors', task.wordVectors]]);
    const { stdout } = await run(
      task.python,
      [
        program,
        ...['--texts', file('texts.txt'), '--vectors', file('vectors.safetensors')],
        ...['--words', file('words.txt'), '--word-vectors', file('words.safetensors')],
        ...['--topics', `${task.symbols}`, '--seed', `${seed}`],
        ...['--models', Object.values(programNames).join(',')],
      ],
      { maxBuffer, ...(task.signal ? { signal: task.signal } : {}) },
    );
    return answersOf(stdout, task.texts.length);
  } catch (error) {
    task.signal?.throwIfAborted();
    throw new UserError(`--peers: ${task.python} ended with an error: ${lastLine(error)}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const lines = (texts: readonly string[]) =>
  texts.map((text) => `${text.replace(/[\t\r\n]/g, ' ')}\n`).join('');

function answersOf(stdout: string, texts: number): FittedPython {
  const answers: FittedPython = { fitted: [], failures: [] };
  for (const line of stdout.trim().split('\n')) {
    const answer = lineSchema.parse(JSON.parse(line));
    const model = pythonModels.find((known) => programNames[known] === answer.name)!;
    if ('error' in answer) {
      answers.failures.push([model, answer.error]);
      continue;
    }
    const { seconds, topics, clusters } = answer;
    if (clusters.length !== texts)
      throw new UserError(`it answered ${clusters.length} topics of ${answer.name} for ${texts} texts`);
    const uses = oneSymbolEach(clusters);
    answers.fitted.push([model, { uses, own: topics, topics: topics.length, seconds }]);
  }
  return answers;
}

function lastLine(error: unknown): string {
  const told = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
  return told || reasonOf(error);
}
