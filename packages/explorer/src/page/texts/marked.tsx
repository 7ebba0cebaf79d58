import type { Answer } from '../../shared/api.ts';
import type { Client } from '../client.ts';
import { useLoaded } from '../loading.ts';

type Explained = Answer<'explain'>;

/** The symbols of a walk in their order, each once: its steps as they are counted for people. */
export const stepsOf = (walk: readonly number[]): number[] => [...new Set(walk)];

/** Which words of a text carry which symbol; null while that is asked, and where `key` is null. */
export function useExplained(client: Client, key: string | null, text: string): Explained | null {
  const loaded = useLoaded(key, (signal) => client.explain(text, signal));
  // Words of the text before are not this one's.
  return key !== null && loaded.state === 'ready' ? loaded.value : null;
}

interface MarkedProps {
  text: string;
  words: Explained['words'];
  walk: readonly number[];
}

/** A text with the words that carry a step marked, each with the number of its step. */
export function Marked({ text, words, walk }: MarkedProps) {
  const inside = words.filter(({ end }) => end <= text.length);
  const steps = stepsOf(walk);
  return (
    <>
      {inside.map(({ start, end, symbol }, at) => (
        <>
          {text.slice(inside[at - 1]?.end ?? 0, start)}
          <mark>
            {text.slice(start, end)}
            <sub>{steps.indexOf(symbol) + 1}</sub>
          </mark>
        </>
      ))}
      {text.slice(inside.at(-1)?.end ?? 0)}
    </>
  );
}
