/** Settings that the paper's appendices say nothing about, in either direction. */
export const notSaid: ReadonlySet<string> = new Set([
  'decoder.symbolDeviation',
  'decoder.whole',
  'encoder.longest',
  'encoder.sharpness',
  'encoder.teacher',
  'training.clip',
  'training.decay',
  'training.patience',
  'training.schedule',
  'training.warmup',
  'warmStart.code',
  'warmStart.hold',
  'warmStart.steps',
  'walk.expectation',
]);

/** Why a setting is not the paper's, by its name or by kind and name. */
export const reasons: Readonly<Record<string, string>> = {
  symbols: 'without a number: as many as the corpus has bags',
  'synthetic graph.posterior':
    'set from expected traversals it finds every link in seconds; a network takes the paper 200 epochs',
  'synthetic graph.prior': 'the density is learned too, so that none need be guessed',
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
