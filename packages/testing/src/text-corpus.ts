import {
  type CorpusInput,
  type TextCorpus,
  type TextCorpusOptions,
  TextFiles,
  type TokenizerSide,
} from '@hidden-schema/text';

/** A corpus of sentences as token numbers for an encoder and a decoder. */
export async function openTextCorpus(
  input: CorpusInput,
  sides: { encoder: TokenizerSide; decoder: TokenizerSide },
  options: TextCorpusOptions = {},
): Promise<TextCorpus> {
  const files = await TextFiles.find(input, options);
  try {
    return await files.tokenise(sides);
  } finally {
    files.close();
  }
}
