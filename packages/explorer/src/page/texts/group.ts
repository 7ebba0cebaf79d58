import type { Graph } from '../client.ts';
import { title } from '../labels.ts';
import { readState, type ViewState, writeState } from '../state.ts';
import { askedSymbols } from './use-texts.ts';

/** What an address may ask of texts, as a text of its own: a group that can be kept and compared. */
export function groupText(view: ViewState): string {
  const { label, words, around, since, until } = view;
  const asked = { label, words, around, since, until, only: askedSymbols(view) };
  return writeState({ ...readState(''), ...asked });
}

export const groupOfLabel = (label: string): string => writeState({ ...readState(''), label: [label] });

/** A group in words. */
export function groupName(text: string, nodes: Graph['nodes']): string {
  const { label, only, words, around, since, until } = readState(text);
  const year = (time: number) => new Date(time).getUTCFullYear();
  const parts = [
    ...label,
    ...only.map((symbol) => (nodes[symbol] ? title(nodes[symbol]) : String(symbol))),
    ...(words.trim() === '' ? [] : [`“${words.trim()}”`]),
    ...(around.length > 5 ? ['drawn on the map'] : []),
    ...(since === null ? [] : [`from ${year(since)}`]),
    ...(until === null ? [] : [`before ${year(until)}`]),
  ];
  return parts.join(', ') || 'all texts';
}
