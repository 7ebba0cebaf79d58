import { UserError } from '@hidden-schema/base';
import { type Generator, nn, noGrad, type Tensor } from '@hidden-schema/torch';
import type { LanguageDecoder } from './language-decoder.ts';
import { isAdded } from './model-folder.ts';
import { type AdapterOptions, Projection } from './projection.ts';

export interface LoraOptions extends AdapterOptions {
  /** Layers that get an adapter: the end of a path (`c_attn`, `mlp.c_fc`), or a pattern on the whole path. */
  targets?: readonly (string | RegExp)[] | undefined;
  /** The symbols' own projections are new and start random, so they train along unless frozen here. */
  freezeSymbols?: boolean;
}

/** Puts low-rank adapters on a decoder and freezes what it came with; gives the paths that got one. */
export function addLora(decoder: LanguageDecoder, options: LoraOptions, generator: Generator): string[] {
  const { rank, alpha } = options;
  if (!(Number.isInteger(rank) && rank >= 1))
    throw new UserError(`a rank is a whole number from 1, got ${rank}`);
  if (!(alpha > 0 && Number.isFinite(alpha))) throw new UserError(`alpha is a positive number, got ${alpha}`);
  const targets = options.targets ?? decoder.adapterTargets;
  const all = [...namedProjections(decoder)];
  const unknown = targets.filter((target) => !all.some(([path]) => fits(path, target)));
  if (unknown.length > 0) {
    const kinds = [...new Set(all.map(([path]) => path.split('.').at(-1)))].join(', ');
    throw new UserError(`lora: no layer is called ${unknown.join(' or ')}; there are ${kinds}`);
  }
  const chosen = all.filter(([path]) => targets.some((target) => fits(path, target)));
  const taken = chosen.find(([, projection]) => projection.lora_A);
  if (taken) throw new UserError(`${taken[0]} has an adapter already: merge it first`);
  for (const [path, tensor] of decoder.namedTensors())
    tensor.requireGrad(isAdded(path) && !options.freezeSymbols && tensor.requiresGrad);
  for (const [, projection] of chosen) projection.attach(options, generator);
  return chosen.map(([path]) => path);
}

function fits(path: string, target: string | RegExp): boolean {
  if (typeof target !== 'string') return target.test(path);
  return path === target || path.endsWith(`.${target}`);
}

/** Adapters alone, by the names they have in a checkpoint. */
export function* loraTensors(decoder: LanguageDecoder): IterableIterator<[string, Tensor]> {
  for (const [path, tensor] of decoder.namedTensors()) if (/\.lora_[AB]\./.test(path)) yield [path, tensor];
}

/** All tensors of the decoder as one without adapters has them, for export; the decoder stays as it is. */
export function* mergedTensors(decoder: LanguageDecoder): IterableIterator<[string, Tensor]> {
  const projections = new Map([...namedProjections(decoder)].map(([path, one]) => [`${path}.weight`, one]));
  for (const [path, tensor] of decoder.namedTensors()) {
    if (/\.lora_[AB]\./.test(path)) continue;
    yield [path, projections.get(path)?.merged() ?? tensor];
  }
}

/** Writes the adapters into the weights and removes them; every parameter is trainable again. */
export function mergeLora(decoder: LanguageDecoder): void {
  for (const [, projection] of namedProjections(decoder)) {
    if (!projection.lora_A) continue;
    noGrad(() => {
      const merged = projection.merged();
      projection.weight.copy_(merged);
      merged.free();
    });
    projection.detachAdapter();
  }
  for (const [, tensor] of decoder.namedTensors()) tensor.requireGrad();
}

/** The decoder's own linear layers by path; the symbols' projections are trained whole and not among them. */
function* namedProjections(module: nn.Module, prefix = ''): IterableIterator<[string, Projection]> {
  for (const [name, member] of Object.entries(module)) {
    const parts: [string, unknown][] = Array.isArray(member)
      ? member.map((element, i) => [`${prefix}${name}.${i}`, element])
      : [[prefix + name, member]];
    for (const [path, part] of parts) {
      if (path.endsWith('.psa')) continue;
      if (part instanceof Projection) yield [path, part];
      else if (part instanceof nn.Module) yield* namedProjections(part, `${path}.`);
    }
  }
}
