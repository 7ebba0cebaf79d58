// What the paper prints of its experiments, typed from its text, under the names that settings have here.

type Printed = Readonly<Record<string, string | number | boolean>>;

/** "Inference model" (appendix C), "Training objective" (D) and Eqs. 4 to 6 and 28: of every experiment. */
const MODEL: Printed = {
  'graph.posterior': 'pairs', // C.1: g(e_i, e_j), a deep neural network
  'graph.prior': 'bernoulli', // Section 3.1: Erdős–Rényi
  'graph.klWeight': 'one', // Eq. 28
  'graph.klOf': 'links', // D.2
  'walk.process': 'walk', // Eq. 3
  'walk.stays': false, // Eq. 4
  'walk.posterior': 'graph', // C.2
  'walk.form': 'paper', // Eqs. 4 and 6
  'walk.range': 'none', // Eq. 6: f = exp(h)
  'objective.kind': 'information', // Eq. 28
  'objective.aggregation': 'mean', // Eqs. 25 to 27
  'graph.hard': false, // E.2, F.1: the Gumbel-Softmax trick
  'walk.hard': false,
};

/** What the paper does not mention is not done; of settings that a kind of model has. */
export const UNMENTIONED: Printed = {
  'encoder.sharpness': 1,
  'encoder.teacher': 'none',
  'training.clip': 'none',
  'training.decay': 0,
  'training.precision': 'float32',
  'training.schedule': 'constant',
  'training.warmup': 0,
  'walk.expectation': 'sampled',
  'warmStart.hold': 0,
  'warmStart.steps': 0,
};

/** Appendix E.2, "Datasets". */
export const CORPUS_E2 = { nodes: 100, tokens: 1000, bag: 2, disjoint: false, sentences: 100_000 } as const;

/** Appendix E.2: Barabási–Albert graphs with three edges from each new node to old ones. */
export const ATTACHED_E2 = 3;
/** Appendices E.2 and F.1: token embeddings, and the trained weights of the walk prior, start at N(0, 0.01²). */
export const DEVIATION = 0.01;
/** Appendix F.2: walks and graphs of the perplexity's estimate. */
export const ESTIMATE_F2 = { walks: 100, graphs: 10 } as const;

/** Appendix E.2, "Hidden Schema Network (HSN) settings" and "Training details"; p is Table 1's. */
const syntheticOf = (p: number): Printed => ({
  ...MODEL,
  symbols: 100,
  'encoder.width': 256,
  'encoder.blocks': 2,
  'encoder.heads': 2,
  'encoder.hidden': 256,
  'encoder.dropout': 0.2,
  'encoder.readout': 'queries', // C.2
  'graph.hidden': 256,
  'graph.layers': 1,
  'graph.p': p,
  'graph.symbols': 'bags', // Section 4: symbols are known bags
  'graph.temperature': 0.75,
  'walk.prior': 'uniform',
  'walk.temperature': 0.75,
  'objective.likelihood': 'bags', // Section 4
  'objective.noise': 0, // Section 4: the product of e_{j_i}, nothing else
  'objective.beta.kind': 'constant',
  'objective.beta.to': 1,
  'training.batch': 256,
  'training.rate': 0.0001,
  'training.graphRate': 0.0001,
  'training.steps': Math.ceil((200 * 70_000) / 256), // 200 epochs
});

/** Appendix F.1, "HSN settings". */
const LANGUAGE: Printed = {
  ...MODEL,
  'encoder.name': 'google-bert/bert-base-uncased',
  'encoder.frozen': false, // Section 5: finetuned
  'encoder.walks': 'queries', // C.2
  'decoder.name': 'openai-community/gpt2',
  baseline: false,
  'decoder.symbolAttention': 'paper', // Eq. 8
  'decoder.symbolProjections': 'shared', // Eq. 8
  'decoder.symbolPositions': 1, // Eq. 8
  'graph.layers': 2,
  'graph.hidden': 512,
  'graph.p': 0.5,
  'graph.symbols': 'one-hot', // Section 3: the symbols are one-hot unless learned
  'graph.temperature': 1,
  'walk.prior': 'inhomogeneous',
  'walk.temperature': 1,
};

/** Appendix F.1, "Training details". */
const TRAINING_F1: Printed = {
  'objective.beta.kind': 'cyclical',
  'objective.beta.to': 1,
  'objective.klThreshold': 0.1,
  'objective.graphKlThreshold': 0.1,
  'training.batch': 32,
  'training.rate': 0.00001,
  'training.encoderRate': 0.00001,
  'training.graphRate': 0.00001,
  'training.symbolRate': 1,
};

/** Appendix F.1, "Datasets": training sentences. */
const SENTENCES = { ptb: 38_219, yahoo: 100_000, yelp: 100_000 } as const;

/** Table 2 and appendix F.1; the GPT-2 row is "fine-tuned during a single epoch" (Section 5). */
function languageOf(corpus: keyof typeof SENTENCES, size: string): Printed {
  const alone = size === 'gpt2';
  const [symbols, length] = size.split('-').map(Number) as [number, number];
  const epochs = alone ? 1 : 100;
  return {
    ...LANGUAGE,
    ...TRAINING_F1,
    ...(alone ? { symbols: 50, length: 5, baseline: true } : { symbols, length }),
    // "(i) for all models trained on PTB; (ii) and all models with L = 50 trained on all datasets"
    'decoder.wordDropout': !alone && (corpus === 'ptb' || length === 50) ? 0.3 : 0,
    'training.steps': Math.ceil((epochs * SENTENCES[corpus]) / 32),
  };
}

/** Section 6 and appendix H. */
const TUPLES: Printed = {
  ...LANGUAGE,
  symbols: 100,
  length: 20,
  'tuples.none': 'keep', // H.1: 877K tuples
  'path.kind': 'lstm',
  'path.hidden': 512,
  'path.targets': 'samples', // "trained on samples from q"
  'path.reading': 'drawn', // step III: "sampled from the posterior model"
  'path.encoder.name': 'google-bert/bert-base-uncased',
};

/** What the paper prints of the experiment of a file. */
export function printedIn(file: string): Printed {
  const [, kind, rest] = /^(\w+)\/paper-(.*)\.yaml$/.exec(file) ?? [];
  if (kind === 'synthetic') return syntheticOf(rest === 'erdos' ? 0.6 : 0.2);
  if (kind === 'reasoning') return TUPLES;
  const [, corpus, size] = /^(ptb|yahoo|yelp)-(.*)$/.exec(rest!)!;
  return languageOf(corpus as keyof typeof SENTENCES, size!);
}
