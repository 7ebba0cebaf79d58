import type { Tensor } from '@hidden-schema/torch';

/** Names of version 0.1 and what they are called today. */
const renamed: readonly [RegExp, string][] = [
  [/^encoder\.scores\./, 'encoder.head.'],
  [/^graph\.symbols\.vectors/, 'symbols.vectors'],
];

/** Tensors by today's names; symbols that are numbers were kept once and are not any more. */
export function migrateTensorNames(
  source: ReadonlyMap<string, Tensor>,
  own: ReadonlySet<string>,
): ReadonlyMap<string, Tensor> {
  const named = [...source].map(([name, tensor]): [string, Tensor] => [nameOfToday(name), tensor]);
  return new Map(named.filter(([name]) => name !== 'symbols.vectors' || own.has(name)));
}

export const nameOfToday = (name: string): string =>
  renamed.reduce((now, [old, today]) => now.replace(old, today), name);
