import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';

/** Settings as a file has them, not checked yet. */
export type Data = Record<string, unknown>;

export const isMapping = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is given, and beneath it defaults for what is not. */
export function mergeDefaults(data: Data, defaults: Data): Data {
  const merged = { ...defaults, ...data };
  for (const [key, inner] of Object.entries(defaults))
    if (isMapping(inner) && isMapping(data[key])) merged[key] = mergeDefaults(data[key], inner);
  return merged;
}

/**
 * Defaults of new text runs where the encoder is a frozen pretrained one: symbols are discovered as vectors in its space,
 * with free links, walks that may end early, and steps as sure as they come.
 */
export function discoveringDefaults(data: Readonly<Data>): Data {
  const {
    name = DEFAULT_ENCODER,
    frozen = true,
    walks,
  } = isMapping(data.encoder) ? data.encoder : ({} as Data);
  const scratch = name === 'transformer' || name === 'lstm';
  if (
    !['language', 'reasoning'].includes(String(data.model)) ||
    data.baseline === true ||
    scratch ||
    frozen !== true
  )
    return {};
  if (walks !== undefined && walks !== 'pursuit') return {};
  return {
    ...(cutsPassages(data) ? { discovery: { passages: true } } : {}),
    encoder: { walks: 'pursuit' },
    graph: { posterior: 'free', symbols: 'learnable', selfLoops: true },
    walk: { range: 'none', stays: true },
  };
}

/** Whether new runs of these settings cut long texts: walks must follow what is left of a text, and may end early. */
function cutsPassages({ model, discovery, walk }: Readonly<Data>): boolean {
  const words = isMapping(discovery) && discovery.follow === 'words';
  const fixed = isMapping(walk) && walk.stays === false;
  return model === 'language' && !words && !fixed;
}
