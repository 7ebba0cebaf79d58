import {
  type BenchOptions,
  costLine,
  inMemory,
  type Measurement,
  median,
  noTime,
  rateLine,
  unmeasured,
} from './measure.ts';
import { Peer, unready } from './peer.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';

const sentences = 32;
/** What the authors pad every sentence to. */
const authorsWidth = 140;
const what = `language step, BERT-base and GPT-2 small, ${sentences} treebank sentences`;
/** Seconds that our own step and what is said of it take at most. */
const ownSeconds = 60;

/** A step at the shapes of BERT-base and GPT-2 small, against PyTorch, eager and compiled, and padded to 140. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const { budget } = options;
  const request = { do: 'step', lengths: batchAt(await sentenceLengths(options.corpus), 0.5, sentences) };
  const ours = Peer.node('language-step.ts', options);
  try {
    const first = await ours.askWithin(budget.left(), request);
    if (!first) return yield noTime(what, 2);
    const eager = budget.next(3);
    const typical = yield* against(ours, request, { ...options, budget: eager }, false);
    yield* alone(ours, request, typical);
    if (budget.fits(ownSeconds)) {
      const { seconds: wide } = await ours.ask({ ...request, width: authorsWidth });
      yield costLine(`${what}, ours padded to ${authorsWidth} (peer)`, 's', [typical, wide!], 3);
    } else yield noTime(`${what}, ours padded to ${authorsWidth} (peer)`);
    if (options.python !== undefined) yield* against(ours, request, options, true);
  } finally {
    await ours.stop();
  }
}

type Request = Readonly<Record<string, unknown>>;

/** Ours and the peer in turns; gives our typical seconds. */
async function* against(
  ours: Peer,
  request: Request,
  options: BenchOptions,
  compiled: boolean,
): AsyncGenerator<Measurement, number> {
  const bench = `${what}, ${compiled ? 'compiled' : 'eager'} PyTorch (peer)`;
  const peer = Peer.start('language', options);
  try {
    const theirs = { ...request, compiled };
    const first = await peer?.askWithin(options.budget.left(), theirs);
    const why = peer && unready(first);
    if (why !== undefined) yield unmeasured(bench, why, { list: 2 });
    else if (first) expectSameSize(await ours.ask(request), first);
    const running = why === undefined ? peer : undefined;
    const { own, beside } = await turns([ours, running], [request, theirs], options);
    const memory = inMemory({
      oursMB: ours.peakMB(),
      ...(running ? { peerMB: running.peakMB() } : {}),
    });
    const line = costLine(bench, 's', [own, beside], compiled ? 1 : 1.5);
    if (!peer || running) yield { ...line, ...memory, list: 2 };
    return own;
  } finally {
    await peer?.stop();
  }
}

/** Medians of rounds in turns; both have taken a step before. */
async function turns(
  [ours, peer]: readonly [Peer, Peer | undefined],
  [request, theirs]: readonly [Request, Request],
  { rounds, budget }: BenchOptions,
): Promise<{ own: number; beside: number | null }> {
  const times: [own: number[], theirs: number[]] = [[], []];
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    const began = performance.now();
    times[0].push(await ours.seconds(request));
    if (peer) times[1].push(await peer.seconds(theirs));
    if (!budget.fits((performance.now() - began) / 1000)) break;
  }
  return { own: median(times[0]), beside: peer ? median(times[1]) : null };
}

/** What our step does in its time. */
async function* alone(ours: Peer, request: Request, typical: number): AsyncGenerator<Measurement> {
  yield costLine(`${what}: memory (ours), 12 GB (peer)`, 'MB', [ours.peakMB(), 12_288], 1);
  yield rateLine(what, 'sentences/s', [sentences / typical, null]);
  const { gflop } = await ours.ask({ ...request, do: 'count' });
  yield rateLine(`${what}: products`, 'GFLOP/s', [gflop! / typical, null]);
}

/** The two programs build the same model but for one bias of the walk's queries here and there: sizes within 1 %. */
function expectSameSize(own: Record<string, number>, theirs: Record<string, number>): void {
  if (Math.abs(own.parameters! / theirs.parameters! - 1) > 0.01)
    throw new Error(`the models differ: ${own.parameters} parameters here, ${theirs.parameters} in the peer`);
}

/** Where the time of our step goes. */
export async function profile(options: BenchOptions): Promise<string> {
  const lengths = batchAt(await sentenceLengths(options.corpus), 0.5, sentences);
  return stepProfile('language-step.ts', { lengths }, options);
}

/** What a program of a step says of its own time. */
export async function stepProfile(script: string, request: Request, options: BenchOptions): Promise<string> {
  const ours = Peer.node(script, options);
  try {
    const { text } = (await ours.ask({ ...request, do: 'profile' })) as unknown as { text: string };
    return text;
  } finally {
    await ours.stop();
  }
}
