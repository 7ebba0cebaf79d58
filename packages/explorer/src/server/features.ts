import type { RunView } from './shown.ts';

/** What the page may show of a run beside its graph. */
export function featuresOf({
  run,
  reader,
  writer,
  encoded,
  levels,
  times,
  labelMaps,
  corpus,
  reasoner,
  view,
}: RunView): string[] {
  const { train, valid, test } = corpus.sentences;
  return [
    ...(reader ? ['encode'] : []),
    ...(writer ? ['write', 'interpolate', 'attention'] : []),
    ...(encoded ? ['nearest', 'encoded', 'map', 'compare'] : []),
    ...(times ? ['time'] : []),
    ...(levels ? ['levels', 'explain'] : []),
    ...(labelMaps && (encoded?.labels ?? run.labels).length > 1 ? ['labels'] : []),
    ...(writer && train + valid + test > 0 ? ['samples'] : []),
    ...(reasoner ? ['reason'] : []),
    ...(view.hasTruth ? ['truth'] : []),
  ];
}
