import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Dot } from '../parts.tsx';
import { useDrawing } from './drawing.ts';
import { onGraphKey } from './keys.ts';
import type { countLinks, DrawnLink, Scene } from './scene.ts';
import type { CameraPlace } from './view.ts';
import type { Views } from './views.ts';

export interface CanvasProps {
  scene: Scene;
  at: number;
  links: readonly DrawnLink[];
  counts: ReturnType<typeof countLinks>;
  views: Views;
  flight: number;
  /** Where the address says that the graph is looked at from. */
  gaze: CameraPlace | null;
  /** Brings walks into view. */
  fits: boolean;
  onStep(symbol: number): void;
  onSelect(symbol: number | null): void;
}

/** One drawing of the graph. */
export function Canvas(props: CanvasProps) {
  const { scene, counts, onStep, onSelect } = props;
  const container = useRef<HTMLDivElement>(null);
  const { view, kind } = useCanvas(container, props);
  const symbols = scene.graph.nodes.length;
  const { map } = scene;
  const about = map ? `Map of ${map.label} over` : 'Graph of';
  return (
    <div class="half">
      <div
        ref={container}
        class="canvas"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
        tabIndex={0}
        role="application"
        aria-label={`${about} ${symbols} symbols and ${counts.shown} links. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the symbols, Enter takes one.`}
        data-nodes={symbols}
        data-links={counts.shown}
        data-kind={kind}
        data-map={map?.label}
        onKeyDown={(event) =>
          onGraphKey(event, { view: view.current, selected: scene.selected, symbols, onStep, onSelect })
        }
      />
      {map ? (
        <p class="map-title">
          <Dot colour={map.colour} square />
          <b>{map.label}</b>
          <span class="faint">{map.sentences.toLocaleString('en')} texts</span>
        </p>
      ) : null}
    </div>
  );
}

/** The drawing itself, which flies and looks where it is told. */
function useCanvas(container: RefObject<HTMLDivElement | null>, props: CanvasProps) {
  const { scene, at, links, views, flight, gaze, fits, onSelect } = props;
  // The drawing keeps the first function it is given.
  const select = useRef(onSelect);
  select.current = onSelect;
  const events = {
    hover: views.hover,
    select: (symbol: number | null) => select.current(symbol),
    move: (place: Parameters<Views['moved']>[1]) => views.moved(at, place),
  };
  const { view, kind } = useDrawing(container, events, { scene, links, fits });
  useEffect(() => {
    if (view.current) views.add(at, view.current);
    return () => views.remove(at);
  }, [kind]);
  useEffect(() => {
    if (flight > 0 && scene.selected !== null) view.current?.flyTo(scene.selected);
  }, [flight, kind]);
  useEffect(() => {
    if (gaze) view.current?.follow?.(gaze);
  }, [gaze, kind]);
  return { view, kind };
}
