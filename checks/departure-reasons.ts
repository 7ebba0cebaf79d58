/** Settings that the paper's appendices say nothing about, in either direction. */
export const notSaid: ReadonlySet<string> = new Set([
  'objective.beta.rise',
  'objective.beta.steps',
  'objective.beta.zero',
  'graph.selfLoops',
  'decoder.wordDropoutBy',
  'path.encoder.frozen',
  'path.onGraph',
  'reasoning decoder.wordDropout',
  'reasoning objective.beta.kind',
  'reasoning objective.beta.to',
  'reasoning objective.klThreshold',
  'reasoning objective.graphKlThreshold',
  'reasoning training.batch',
  'reasoning training.encoderRate',
  'reasoning training.graphRate',
  'reasoning training.rate',
  'reasoning training.steps',
  'reasoning training.symbolRate',
  'decoder.symbolDeviation',
  'decoder.whole',
  'encoder.longest',
  'encoder.sharpness',
  'encoder.teacher',
  'training.clip',
  'training.decay',
  'training.patience',
  'training.schedule',
  'training.validateBy',
  'training.warmup',
  'warmStart.code',
  'warmStart.hold',
  'warmStart.steps',
  'walk.expectation',
  'walk.isolated',
  'graph.logZero',
  'encoder.dropout',
  'decoder.longest',
  'training.evaluateEvery',
  'synthetic objective.klThreshold',
  'synthetic objective.graphKlThreshold',
  'path.dropout',
  'path.samples',
]);

/** Settings that a preset `paper` does not read, since they are of a choice that it does not make, or of how a run is kept. */
export const ofOtherChoices: RegExp = new RegExp(
  [
    '^(model|seed|part|checkpoints|discovery|warmStart|training\\.plateau)\\b',
    '^training\\.(logEvery|precision)$',
    '^graph\\.(beta|exponent|degree|attachments|symbolDimension|traversalRate|sweeps|sweepSentences)$',
    '^walk\\.constant$',
    '^(path\\.)?encoder\\.(width|layers|heads|cache|precision)$',
    '^decoder\\.(width|layers|heads|dropout|vocabulary|vocabularySize)$',
    '^path\\.(width|layers|heads|scheduled)$',
  ].join('|'),
);

/** Where a preset `paper` is not the paper's letter, by the name of its files; a test compares with the appendices. */
export const presetDepartures: readonly {
  files: string;
  setting: string;
  printed: string;
  value: string;
  why: string;
}[] = [
  {
    files: 'paper-barabasi, paper-erdos',
    setting: 'objective.noise',
    printed: '0 (Section 4: the likelihood is the product of bag probabilities)',
    value: '0.001',
    why: 'a token outside of a bag would be impossible, and the first wrong walk would end training',
  },
  {
    files: 'paper-yahoo-50-5, paper-yahoo-50-20, paper-yelp-50-5, paper-yelp-50-20',
    setting: 'decoder.wordDropout',
    printed: '0 (appendix F.1 has 0.3 for "all models with L = 50", which no table has)',
    value: '0.3',
    why: 'read as K = 50: the authors’ Yahoo and Yelp files have 50 symbols and 0.3',
  },
  {
    files: 'paper-atomic-50-20',
    setting: 'symbols',
    printed: '100 (Section 6)',
    value: '50',
    why: 'Table 3 has HSN(50, 20); paper-atomic-100-20 has the section’s number',
  },
];

/** Why a setting is not the paper's, by its name or by kind and name. */
export const reasons: Readonly<Record<string, string>> = {
  symbols: 'without a number: as many as the corpus has bags',
  'synthetic graph.posterior':
    'set from expected traversals it finds every link in seconds; a network takes the paper 200 epochs',
  'synthetic graph.prior': 'the density is learned too, so that none need be guessed',
  'graph.logZero':
    'the authors’ program takes log 0 for 0; here a zero probability counts as 1e-8, which only the drawn prior and the mean field meet',
  'graph.klOf':
    'the authors’ program in the language experiments: only the density is pushed towards the prior’s, hence their KL of 0.02 to 0.3',
  'synthetic graph.temperature': 'the authors’ program hands its temperature to walks alone; the graph has 1',
  'synthetic graph.p': 'the authors’ prior is drawn and has no p; Table 1 has 0.2 and 0.6',
  'walk.form': 'symmetric: the authors’ program, with c = 1 in the synthetic experiments',
  'walk.constant': 'c of the symmetric form',
  'objective.likelihood':
    'the authors’ program puts bag probabilities into a softmax; the paper’s 53.07 and 48.24 are its floor',
  'objective.beta.zero': 'the authors have one cycle an epoch: half at 0, a quarter rising, a quarter at 1',
  'objective.beta.rise': 'see the line above; half of a cycle in the schedule that the paper cites',
  'decoder.longest': 'the authors cut texts at 140 (PTB) and 200 tokens',
  'decoder.wordDropoutBy': 'the authors’ program hides dropped words from attention',
  'decoder.symbolAttention': 'the authors’ program adds positions of symbols before the projection',
  'training.evaluateEvery': 'the authors look once an epoch',
  'training.validateBy': 'the authors keep the best by likelihood; the paper does not say by what',
  'training.plateau.factor':
    'rates fall by 0.25 (synthetic) and 0.8 (language) where validation stalls; the paper says nothing of it',
  'training.plateau.patience':
    'epochs without gain that are let pass: 2 (synthetic), 0 (PTB), 1 (Yahoo, Yelp)',
  'training.plateau.least': 'the authors end training below this rate',
  length: 'shorter walks are easier to foresee',
  'reasoning symbols': 'Section 6 has 100, Table 3 has 50',
  'tuples.none':
    'objects that say “none” tell nothing; the paper counts 877 000 tuples, which are those with them',
  'tuples.heads': 'what fits into an hour or two',
  'reasoning graph.posterior':
    'free links start where the codes or symbols of the tuples walk; g cannot be set so',
  'reasoning graph.klWeight':
    'divided by 2000: at weight one a link costs as much as if the corpus were one tuple',
  'reasoning graph.hidden': 'of a network that free links do not have',
  'reasoning walk.range': 'with hard links, the gradient of links that are missing would drown all others',
  'encoder.walks': 'pursuit: symbols as vectors in the encoder’s space, found before any training',
  'warmStart.sentences': 'of the warm start',
  'warmStart.choices': 'of the warm start: symbols that a step of a code chooses among',
  'path.kind': 'of the path model that is trained, one at a time',
  'path.hidden': 'as the paper',
  'path.onGraph': 'steps without a link are ruled out, which the paper does not say',
  'path.targets': 'what the posterior says of each step teaches more than one draw of it',
  'path.reading':
    'the most probable first half and links above one half, so that the same question has the same answer',
  'path.encoder.name': 'a MiniLM that installs with the package; BERT is one name away',
  'path.encoder.frozen': 'computed once and kept',
  'reasoning objective.beta.to':
    'of sharp walks the aggregated KL of a batch is mostly the batch’s own noise',
  'reasoning training.rate': 'for a decoder from scratch, and for fewer steps',
  'reasoning training.steps': 'what fits into an hour; the paper does not say how long it trains',
  'graph.selfLoops':
    'the authors’ reading: a walk may stay; off where the second half of a tuple must say something new',
  'graph.symbols': 'g sees which pair it is, not which tokens two bags share',
  'graph.p': 'a sparser graph makes steps of a walk easier to foresee, and their KL smaller',
  'graph.hidden': 'a network of 512 has more weights than the graph of 50 symbols has links',
  'graph.layers': 'as g of appendix E',
  'graph.hard': 'samples that are graphs: walks keep to links; the gradient is straight-through',
  'synthetic graph.klWeight':
    'data: divided by the training sentences, which is the bound of the whole corpus per sentence; batch: as in the authors’ program. At weight one a link costs as much as if the corpus were one sentence',
  'language graph.klWeight':
    'divided by 2000: at weight one a link costs as much as if the corpus were one sentence; the authors divide the KL of the mean link by the batch',
  'synthetic walk.range':
    'node weights of a step may differ by so many nats; without a bound the gradient of missing links drowns all others',
  'language walk.range':
    'node weights of a step may differ by 6 nats; without a bound the gradient of missing links drowns all others',
  'walk.expectation': 'a bag’s likelihood factorises over steps, so that marginals can replace sampled walks',
  'walk.hard': 'samples that are walks; the gradient is straight-through',
  'encoder.readout': 'a step reads its own token, as in the authors’ program: T = L here',
  'encoder.teacher':
    'the closed-form graph computes the exact posterior of walks anyway, so that the encoder learns from it',
  'encoder.name': 'a MiniLM that installs with the package; BERT is one name away',
  'encoder.frozen': 'its states are computed once and kept; only the block of queries learns',
  'encoder.longest': 'texts of 128 tokens cover the corpora at hand; raise it for documents',
  'encoder.sharpness': 'walks tell sentences apart before any training',
  'decoder.name': 'a small GPT-2 from scratch; a pretrained one is one name away',
  'decoder.whole':
    'cut at 128 tokens unless told; with it, positions are as many as the texts need, and nothing is put after a cut',
  'decoder.wordDropout':
    'hiding words makes a decoder read walks that start empty; after a warm start it only costs perplexity',
  'decoder.symbolPositions': 'at full size, positions drown the embeddings of a decoder from scratch',
  'decoder.symbolDeviation': 'larger than the positions, so that symbols are seen from the first step',
  'synthetic objective.aggregation':
    'the Markov projection weighs each sentence by its chance of being at a node; the unweighted mean is the paper’s',
  'objective.capacity':
    'nats that walks may tell for nothing, as they carry several; chosen on validation sentences',
  'objective.beta.kind':
    'annealing guards against walks that tell nothing; a warm start does so from the first step',
  'objective.beta.steps': 'of a schedule that is not used',
  'objective.klThreshold': 'guards against walks that tell nothing, as the capacity does',
  'objective.graphKlThreshold': 'the same for the graph, whose KL is far above 0.1 nats',
  'warmStart.steps':
    'from a cold start a decoder learns to ignore walks before they tell anything; this fits walks to codes of the sentences first',
  'warmStart.hold':
    'the decoder learns to read walks that stay as fitted; 2000 and 500 were chosen on validation sentences',
  'warmStart.code': 'of a warm start that is not used',
  'training.steps': 'what fits into minutes or an hour; the paper has 200 and 100 epochs',
  'training.batch': 'of short sentences',
  'synthetic training.rate': 'for fewer steps',
  'language training.rate': 'for a decoder from scratch, and for fewer steps',
  'training.symbolRate':
    'symbols’ projections are looked up and not shared by all words, so that they learn slowly',
  'training.encoderRate':
    'of a block of queries from scratch; slower on the treebank, where walks held for longer told more',
  'training.graphRate': 'links have the fewest gradients',
  'training.decay': 'usual for a decoder from scratch',
  'training.clip': 'each group of weights to norm 1, so that no single batch moves the graph far',
  'training.warmup': 'usual for a Transformer from scratch',
  'training.schedule': 'usual for few steps',
  'training.patience': 'evaluations without gain before training stops; the paper trains all epochs',
};
