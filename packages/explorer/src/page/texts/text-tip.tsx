import type { Graph, MapText } from '../client.ts';
import { title } from '../labels.ts';
import type { Size } from './camera.ts';

const WIDTH = 300;
const LONGEST = 320;
const AWAY = 14;

interface TextTipProps {
  /** Null while it is read. */
  text: MapText | null;
  place: readonly [number, number];
  size: Size;
  graph: Graph;
}

/** The text under the pointer, beside its dot, where there is room. */
export function TextTip({ text, place: [x, y], size, graph }: TextTipProps) {
  const width = Math.min(WIDTH, size.width - 2 * AWAY);
  const left = Math.max(AWAY, Math.min(x + AWAY, size.width - width - AWAY));
  const below = y < size.height / 2;
  const side = below ? { top: `${y + AWAY}px` } : { bottom: `${size.height - y + AWAY}px` };
  if (!text) return null;
  const first = graph.nodes[text.walk[0]!];
  return (
    <div class="tip" style={{ left: `${left}px`, width: `${width}px`, ...side }}>
      <p>{text.text.length > LONGEST ? `${text.text.slice(0, LONGEST).trimEnd()}…` : text.text}</p>
      <p class="tip-facts">
        {text.label === null ? null : <span class="tag">{text.label}</span>}
        {first ? <span class="faint">{title(first)}</span> : null}
      </p>
    </div>
  );
}
