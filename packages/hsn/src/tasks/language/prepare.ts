import { UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import { countRepeated } from '@hidden-schema/text/near-duplicates';
import type { TokenStore } from '@hidden-schema/text/token-store';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { startEngine } from '@hidden-schema/torch';
import type { LanguageDecoder } from '@hidden-schema/transformers';
import { isDecoderName } from '@hidden-schema/transformers/decoder-config';
import { type LanguageConfig, usesPursuit } from '../../config/language.ts';
import type { ReasoningConfig } from '../../config/tuples.ts';
import type { SymbolChoice } from '../../discovery/choose.ts';
import {
  checkPursuitOptions,
  chosenSymbols,
  discoveryInputs,
  fewestSymbols,
} from '../../discovery/inputs.ts';
import type { Passages } from '../../discovery/passages.ts';
import type { DiscoveryInputs } from '../../discovery/text-discovery.ts';
import type { WalkCodes } from '../../train/warm-start.ts';
import { decoderSource, discoverySizes, makeNetwork, withSymbolWidth } from './build.ts';
import { unknownWordsNote } from './known-words.ts';
import type { LanguageNetwork } from './network.ts';
import { type PreparedTexts, type PrepareOptions, prepareTexts, type TextInput } from './prepare-texts.ts';
import type { LanguageTraining } from './training.ts';

/** Texts, tokenizers and models, ready for a run. */
export interface PreparedLanguage extends PreparedTexts {
  config: LanguageConfig;
  model: LanguageNetwork;
  /** Where walks are read by pursuit: what symbols are found in. */
  discovery: DiscoveryInputs | undefined;
  /** How the number of symbols was chosen, where it was. */
  chosen: SymbolChoice | undefined;
  /** What walks are fitted to before training, where no symbols are found. */
  walkCodes: ((training: LanguageTraining) => WalkCodes) | undefined;
}

/** Reads and tokenises a corpus and makes the model for it; nothing is written but caches of tokens and vectors. */
export async function prepareLanguage(
  settings: LanguageConfig,
  source: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedLanguage> {
  startEngine();
  const asked = options.chooseSymbols ? { ...settings, symbols: fewestSymbols(settings, options) } : settings;
  checkLora(asked);
  checkPursuitOptions(asked, options);
  const { encoder, frozen, folder, generator, read, ...texts } = await prepareTexts(asked, source, options);
  const { corpus, tokenizers } = texts;
  const { encoder: tokenizer, decoder } = tokenizers;
  const sentences = corpus.splits.train.length;
  let discovery: DiscoveryInputs | undefined;
  const close = () => {
    texts.close();
    discovery?.vectors.free();
    discovery?.passages.free();
  };
  try {
    if (usesPursuit(asked)) discovery = await discoveryInputs(asked, corpus, { encoder, tokenizer }, options);
    const space = options.discovery ?? (discovery && discoverySizes(discovery, corpus));
    const choose = options.chooseSymbols && discovery;
    const chosen = choose ? await chosenSymbols(asked, corpus, choose, options.replicas) : undefined;
    const sized = chosen ? { ...read, symbols: chosen.symbols } : read;
    const config = space ? withSymbolWidth(sized, encoder.width + space.dimensions) : sized;
    const parts = { encoder, frozen, decoderVocabulary: decoder.vocabulary, sentences, discovery: space };
    const writer = await decoderSource(config, { folder });
    const model = makeNetwork(config, { ...parts, decoder: writer }, generator);
    checkVocabulary(model, decoder, config.decoder.name);
    const { longest } = read.encoder;
    const found = discovery ? discoveryNotes(corpus, discovery.passages, { tokenizer, longest }) : [];
    const walkCodes = discovery ? undefined : await sentenceCodes();
    const made = { config, model, discovery, chosen, walkCodes };
    return { ...texts, ...made, notes: [...texts.notes, ...found], close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Codes of sentences, which few trainings need. */
async function sentenceCodes(): Promise<(training: LanguageTraining) => WalkCodes> {
  const { SentenceWalkCodes } = await import('./sentence-walk-codes.ts');
  return (training) => new SentenceWalkCodes(training);
}

/** What a user should know of texts before symbols are found in them; a line each. */
function discoveryNotes(
  corpus: TextCorpus,
  passages: Passages,
  { tokenizer, longest }: { tokenizer: Tokenizer; longest: number },
): string[] {
  const notes = [
    repeatedNote(corpus),
    passagesNote(corpus, passages, longest),
    unknownWordsNote(corpus, tokenizer, longest),
  ];
  return notes.filter((note) => note !== undefined);
}

/** How many texts repeat an earlier one: they count as often as they are there. */
function repeatedNote({ store }: TextCorpus): string | undefined {
  const { looked, same, near } = countRepeated(textsOfStore(store));
  if (same + near === 0) return undefined;
  const among = looked < store.count ? `the first ${looked} texts` : `${looked} texts`;
  return `of ${among}, ${same} repeat an earlier one and ${near} more are nearly the same; all count (--duplicates remove leaves out equal ones)`;
}

function* textsOfStore(store: TokenStore): Iterable<string> {
  for (let row = 0; row < store.count; row++) yield store.example(row).text;
}

function passagesNote({ store }: TextCorpus, passages: Passages, longest: number): string | undefined {
  const { cutTexts } = passages;
  if (cutTexts === 0) return undefined;
  const parts = passages.count - (store.count - cutTexts);
  return `${cutTexts} of ${store.count} texts are longer than the encoder reads at once: cut into ${parts} passages of at most ${longest} tokens, read as ${cutTexts} texts`;
}

/** Refuses adapters on a decoder that starts from scratch: its own weights would never learn. */
export function checkLora({
  decoder: { name, lora },
}: Pick<LanguageConfig, 'decoder'> | Pick<ReasoningConfig, 'decoder'>): void {
  if (lora && isDecoderName(name))
    throw new UserError(
      `decoder.lora leaves a decoder's own weights as they are, and ${name} starts from scratch: name a pretrained one, or leave lora out`,
    );
}

/** Refuses a tokenizer that is not the weights' own. */
export function checkVocabulary(
  { decoder }: { decoder: LanguageDecoder },
  { vocabulary }: Tokenizer,
  name: string,
): void {
  if (vocabulary <= decoder.vocabularySize) return;
  throw new UserError(
    `${name}: the tokenizer has ${vocabulary} tokens but the weights have ${decoder.vocabularySize}; they do not belong together, take the tokenizer.json that came with the weights`,
  );
}
