import type { Generator } from '@hidden-schema/torch';
import type { z } from 'zod';
import type { Claim } from './claims.ts';
import { symbolClaims } from './decoder-claims.ts';
import type { DecoderKind, DecoderOptions, ScratchSizes } from './decoder-kind.ts';
import type { MakingOptions } from './decoder-making.ts';
import type { LanguageDecoder } from './language-decoder.ts';
import {
  checkedConfig,
  checkFolder,
  isAdded,
  type LoadRules,
  loaded,
  readModelConfig,
  type SymbolRecord,
} from './model-folder.ts';

/** What sets one architecture apart from the others. */
export interface DecoderArchitecture<
  Settings,
  Config extends { hsn?: SymbolRecord | undefined },
  Decoder extends LanguageDecoder,
> {
  /** The parts of config.json that it depends on. */
  schema: z.ZodType<Config, Settings>;
  Decoder: new (settings: Settings, generator: Generator, options: MakingOptions) => Decoder;
  /** Settings of a decoder from scratch. */
  settings(sizes: ScratchSizes): Settings;
  /** What the sizes in its settings say of its weights. */
  claims(config: Config): Claim[];
  /** The names here of stored tensors. */
  renamedFor(config: Config): LoadRules['rename'];
}

/** A decoder from a folder in Hugging Face's layout: config.json and safetensors. */
export function openFolder<
  Settings,
  Config extends { hsn?: SymbolRecord | undefined },
  Decoder extends LanguageDecoder,
>(
  architecture: DecoderArchitecture<Settings, Config, Decoder>,
  folder: string,
  generator: Generator,
  options: DecoderOptions,
): Decoder {
  const settings = readModelConfig(folder);
  const config = checkedConfig(architecture.schema, settings, folder);
  const rename = architecture.renamedFor(config);
  const claims = [...architecture.claims(config), ...(options.symbols ? [] : symbolClaims(config.hsn))];
  checkFolder(folder, claims, { rename });
  const decoder = new architecture.Decoder(settings as Settings, generator, { ...options, blank: true });
  return loaded(decoder, folder, { optional: isAdded, rename });
}

/** An architecture as the rest of the program asks for it. */
export function kindOf<
  Settings,
  Config extends { hsn?: SymbolRecord | undefined },
  Decoder extends LanguageDecoder,
>(architecture: DecoderArchitecture<Settings, Config, Decoder>): DecoderKind {
  const { Decoder, schema } = architecture;
  return {
    make: (sizes, generator, options) => new Decoder(architecture.settings(sizes), generator, options),
    blank: (config, generator, options) =>
      new Decoder(config as Settings, generator, { ...options, blank: true }),
    claims: (config) => {
      const read = schema.safeParse(config);
      return read.success ? architecture.claims(read.data) : [];
    },
    open: (folder, generator, options) => openFolder(architecture, folder, generator, options),
  };
}
