import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Answer } from '../../shared/api.ts';
import type { Graph, MapText } from '../client.ts';
import { percent, title, titleIn } from '../labels.ts';
import { useLoaded } from '../loading.ts';
import { usePanel } from '../panels/panel.ts';
import type { Size } from './camera.ts';
import { flowsOf } from './filter.ts';
import type { TextData } from './text-data.ts';

type Explained = Answer<'explain'>;

/** The symbols of a walk in their order, each once: its steps as they are counted for people. */
export const stepsOf = (walk: readonly number[]): number[] => [...new Set(walk)];

/** Which words of a text carry which symbol; null while that is asked, and where `key` is null. */
export function useExplained(key: string | null, text: string): Explained | null {
  const { client } = usePanel();
  const loaded = useLoaded(key, (signal) => client.explain({ text }, signal));
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

const WIDTH = 320;
const LONGEST = 320;
const AWAY = 14;
/** Of the tallest box. */
const HEIGHT = 270;
/** Milliseconds for which a pointer rests on a text before its words are asked for. */
const RESTS = 400;

type Place = readonly [x: number, y: number];

interface Placed {
  place: Place;
  size: Size;
  /** Where symbols are drawn. */
  placesOf(symbols: readonly number[]): readonly Place[];
}

/** A box beside a place, where there is room; it leaves the symbols that it tells of in view where it can. */
function Tip({
  place,
  size,
  placesOf,
  of,
  children,
}: Placed & { of: number[]; children: ComponentChildren }) {
  const [x, y] = place;
  const seen = placesOf(of);
  const middle = (axis: 0 | 1) => seen.reduce((sum, one) => sum + one[axis], 0) / seen.length || place[axis];
  const width = Math.min(WIDTH, size.width - 2 * AWAY);
  const leftward = middle(0) > x && x - AWAY - width >= AWAY;
  const left = leftward ? x - AWAY - width : Math.max(AWAY, Math.min(x + AWAY, size.width - width - AWAY));
  const below = middle(1) < y ? size.height - y > HEIGHT : y < HEIGHT;
  const side = below ? { top: `${y + AWAY}px` } : { bottom: `${size.height - y + AWAY}px` };
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${width}px`, ...side }}>
      {children}
    </div>
  );
}

interface TextTipProps extends Placed {
  /** Null while it is read. */
  text: MapText | null;
  graph: Graph;
  /** Its walk as it is drawn: over symbols, or over groups of them. */
  walk: readonly number[];
  /** Whether the words that carry each step can be asked for. */
  explains: boolean;
}

/** The text under the pointer with its walk in words; the words that carry each step are marked. */
export function TextTip({ text, graph, walk, explains, ...placed }: TextTipProps) {
  const rested = useRested(text?.index ?? null);
  const asks = explains && text !== null && rested === text.index;
  const explained = useExplained(asks ? `${graph.identity} ${text.index}` : null, text?.text ?? '');
  if (!text) return null;
  const cut = text.text.length > LONGEST;
  const shown = cut ? text.text.slice(0, LONGEST).trimEnd() : text.text;
  return (
    <Tip {...placed} of={stepsOf(walk)}>
      <p>
        <Marked text={shown} words={explained?.words ?? []} walk={text.walk} />
        {cut ? '…' : ''}
      </p>
      <p class="tip-facts">
        {text.label === null ? null : <span class="tag">{text.label}</span>}
        {stepsOf(walk).map((symbol, at) => (
          <span key={symbol} class="tip-step">
            <b>{at + 1}</b> {titleIn(graph, symbol)}
          </span>
        ))}
      </p>
    </Tip>
  );
}

/** A number once it has stayed the same for a while. */
function useRested(value: number | null): number | null {
  const [rested, setRested] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), RESTS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

interface SymbolTipProps extends Placed {
  symbol: number;
  graph: Graph;
  data: TextData;
}

const FEW_WORDS = 6;
const FEW_LINKS = 3;

/** The theme under the pointer: its words, how many texts pass it, and where they go next. */
export function SymbolTip({ symbol, graph, data, ...placed }: SymbolTipProps) {
  const { texts, after } = useMemo(() => flowsOf(data, symbol), [data, symbol]);
  const node = graph.nodes[symbol];
  const next = after.slice(0, FEW_LINKS);
  if (!node) return null;
  return (
    <Tip {...placed} of={next.map(({ symbol: other }) => other)}>
      <p>
        <b>{title(node)}</b> <span class="faint">{percent(texts / data.count)} of texts</span>
      </p>
      {node.name !== null && node.tokens.length > 0 ? (
        <p class="faint">{node.tokens.slice(0, FEW_WORDS).join(', ')}</p>
      ) : null}
      {next.length === 0 ? null : (
        <p>
          Often followed by{' '}
          {next.map(({ symbol: other, share }) => `${titleIn(graph, other)} (${percent(share)})`).join(', ')}.
        </p>
      )}
    </Tip>
  );
}
