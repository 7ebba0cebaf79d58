import { UserError } from '@hidden-schema/base/errors';
import { BagDecoder } from '@hidden-schema/hsn/decoder/bag';
import type { SyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import { tokensFrom, tokensOf } from '@hidden-schema/hsn/tasks/synthetic/network';
import { BatchOrder } from '@hidden-schema/text/text-batches';
import { noGrad } from '@hidden-schema/torch/autograd';
import { nn } from '@hidden-schema/torch/index';
import * as optim from '@hidden-schema/torch/optim';
import { Generator } from '@hidden-schema/torch/random';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';

interface LstmBaselineOptions {
  hidden: number;
  steps: number;
  batch: number;
  rate: number;
  seed: number;
  noise: number;
  onStep?: (step: number, loss: number) => void;
}

/** The LSTM of appendix E.3: reads the tokens and says at each step which symbol stands there, graph unknown. */
export class LstmBaseline extends nn.Module {
  readonly embedding: nn.Embedding;
  readonly lstm: nn.Lstm;
  readonly scores: nn.Linear;
  readonly decoder: BagDecoder;

  constructor(corpus: SyntheticCorpus, options: LstmBaselineOptions, generator: Generator) {
    super();
    if (!corpus.bags) throw new UserError('the LSTM baseline needs the bags of tokens (node_tokens.tsv)');
    const { nodes, probabilities } = corpus.bags;
    const vocabulary = corpus.vocabulary.length;
    this.embedding = new nn.Embedding(vocabulary, options.hidden, generator, { deviation: 0.1 });
    this.lstm = new nn.Lstm(options.hidden, options.hidden, generator);
    this.scores = new nn.Linear(options.hidden, nodes, generator);
    const bags = scope(() => Tensor.fromArray(probabilities, [nodes, vocabulary]).to('float32'));
    this.decoder = new BagDecoder({ symbols: nodes, vocabulary, noise: options.noise }, generator, bags);
    bags.free();
  }

  /** Distribution over symbols at each step. L tensors [B, K] */
  positions(tokens: Tensor): Tensor[] {
    const { output } = this.lstm.forward(this.embedding.forward(tokens)); // [B, L, H]
    return this.scores.forward(output).softmax(-1).unbind(1);
  }
}

/** Trains the LSTM and returns its NLL on the test split, as true likelihood and in the authors' convention. */
export function trainLstmBaseline(
  corpus: SyntheticCorpus,
  options: LstmBaselineOptions,
): { nll: number; nll_authors: number } {
  const model = new LstmBaseline(corpus, options, new Generator(options.seed));
  const adam = new optim.Adam([{ parameters: [...model.namedParameters()], rate: options.rate }]);
  const rows = Int32Array.from({ length: corpus.splits.train.count }, (_, row) => row);
  const order = new BatchOrder(rows, { batchSize: options.batch, seed: options.seed });
  for (let step = 1; step <= options.steps; step++) {
    scope(() => {
      const tokens = tokensOf(corpus.splits.train, corpus.length, order.next().rows);
      const loss = model.decoder.expectedLog(tokens, model.positions(tokens)).mean().neg();
      adam.zeroGrad();
      loss.backward();
      adam.step();
      options.onStep?.(step, loss.item());
    });
  }
  const result = testNll(model, corpus);
  model.free();
  adam.free();
  return result;
}

function testNll(model: LstmBaseline, corpus: SyntheticCorpus): { nll: number; nll_authors: number } {
  const { test } = corpus.splits;
  let nll = 0;
  let authors = 0;
  for (let first = 0; first < test.count; first += 1000) {
    scope(() =>
      noGrad(() => {
        const tokens = tokensFrom(test, corpus.length, first, 1000);
        const positions = model.positions(tokens);
        nll -= model.decoder.expectedLog(tokens, positions).sum().item();
        authors -= model.decoder.authorsExpectedLog(tokens, positions).sum().item();
      }),
    );
  }
  return { nll: nll / test.count, nll_authors: authors / test.count };
}
