import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Client, Graph, MapText } from '../client.ts';
import { percent, title, titleIn } from '../labels.ts';
import type { Size } from './camera.ts';
import { flowsOf } from './flows.ts';
import { Marked, stepsOf, useExplained } from './marked.tsx';
import type { TextData } from './text-data.ts';

const WIDTH = 320;
const LONGEST = 320;
const AWAY = 14;
/** Milliseconds for which a pointer rests on a text before its words are asked for. */
const RESTS = 400;

interface Placed {
  place: readonly [number, number];
  size: Size;
}

/** A box beside a place, where there is room. */
function Tip({ place: [x, y], size, children }: Placed & { children: ComponentChildren }) {
  const width = Math.min(WIDTH, size.width - 2 * AWAY);
  const left = Math.max(AWAY, Math.min(x + AWAY, size.width - width - AWAY));
  const below = y < size.height / 2;
  const side = below ? { top: `${y + AWAY}px` } : { bottom: `${size.height - y + AWAY}px` };
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${width}px`, ...side }}>
      {children}
    </div>
  );
}

interface TextTipProps extends Placed {
  client: Client;
  /** Null while it is read. */
  text: MapText | null;
  graph: Graph;
  /** Its walk as it is drawn: over symbols, or over groups of them. */
  walk: readonly number[];
  /** Whether the words that carry each step can be asked for. */
  explains: boolean;
}

/** The text under the pointer with its walk in words; the words that carry each step are marked. */
export function TextTip({ client, text, graph, walk, explains, ...placed }: TextTipProps) {
  const rested = useRested(text?.index ?? null);
  const asks = explains && text !== null && rested === text.index;
  const explained = useExplained(client, asks ? `${graph.identity} ${text.index}` : null, text?.text ?? '');
  if (!text) return null;
  const cut = text.text.length > LONGEST;
  const shown = cut ? text.text.slice(0, LONGEST).trimEnd() : text.text;
  return (
    <Tip {...placed}>
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
  if (!node) return null;
  return (
    <Tip {...placed}>
      <p>
        <b>{title(node)}</b> <span class="faint">{percent(texts / data.count)} of texts</span>
      </p>
      {node.name !== null && node.tokens.length > 0 ? (
        <p class="faint">{node.tokens.slice(0, FEW_WORDS).join(' ')}</p>
      ) : null}
      {after.length === 0 ? null : (
        <p>
          Often followed by{' '}
          {after
            .slice(0, FEW_LINKS)
            .map(({ symbol: next, share }) => `${titleIn(graph, next)} (${percent(share)})`)
            .join(', ')}
          .
        </p>
      )}
    </Tip>
  );
}
