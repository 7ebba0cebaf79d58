import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { usePanel } from '../panels/panel.ts';
import { Dot } from '../parts.tsx';
import { NetworkView } from './network-view.ts';
import { type countLinks, type DrawnLink, highlightedWalks, type Scene } from './scene.ts';
import { onDrawingKey, useCamera } from './use-camera.ts';

interface NetworkProps {
  /** One, or two side by side that move together. */
  scenes: readonly Scene[];
  links: readonly DrawnLink[];
  counts: ReturnType<typeof countLinks>;
  /** Counts up when the network should fly to the selected symbol. */
  flight: number;
  onHover(symbol: number | null): void;
  onStep(symbol: number): void;
  onSelect(symbol: number | null): void;
  /** What stands over the drawing. */
  children?: ComponentChildren;
}

/** The network alone; twice where two labels are compared. */
export function Network({ scenes, children, ...props }: NetworkProps) {
  const views = useRef(new Set<NetworkView>()).current;
  return (
    <div class="graph-side">
      {scenes.map((scene, at) => (
        <OneNetwork key={at} {...props} {...{ scene, views }} />
      ))}
      {children}
    </div>
  );
}

type OneProps = Omit<NetworkProps, 'scenes' | 'children'> & { scene: Scene; views: Set<NetworkView> };

/** One drawing of the network. */
function OneNetwork(props: OneProps) {
  const { scene, counts, onStep, onSelect } = props;
  const container = useRef<HTMLDivElement>(null);
  const { view, onMove } = useNetworkView(container, props);
  const { map, selected } = scene;
  const symbols = scene.graph.nodes.length;
  const step = (by: number) => () => {
    const symbol = selected === null ? 0 : (selected + by + symbols) % symbols;
    onStep(symbol);
    view.current?.flyTo(symbol);
  };
  const keys = { n: step(1), p: step(-1), Enter: () => selected !== null && onSelect(selected) };
  return (
    <div class="half">
      <div
        ref={container}
        class="canvas"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing is moved by keys
        tabIndex={0}
        role="application"
        aria-label={`${map ? `Map of ${map.label} over` : 'Graph of'} ${symbols} symbols and ${counts.shown} links. Arrow keys move, plus and minus zoom, 0 shows all, n and p step through the symbols, Enter takes one.`}
        data-nodes={symbols}
        data-links={counts.shown}
        data-map={map?.label}
        onKeyDown={(event) => onDrawingKey(event, view.current, { onMove, keys })}
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

/** The drawing itself, which flies and looks where it should. */
function useNetworkView(container: { current: HTMLDivElement | null }, props: OneProps) {
  const { scene, links, views } = props;
  const view = useRef<NetworkView>(null);
  // The drawing keeps the first functions that it is given.
  const now = useRef(props);
  now.current = props;
  useLayoutEffect(() => {
    const made = new NetworkView(container.current!, {
      hover: (symbol) => now.current.onHover(symbol),
      select: (symbol) => now.current.onSelect(symbol),
      move: (camera) => moves.current(camera),
    });
    view.current = made;
    views.add(made);
    return () => {
      views.delete(made);
      made.destroy();
    };
  }, []);
  const remember = useCamera(view, 'graphat');
  const onMove = (camera: NetworkView['camera']) => {
    for (const other of views) if (other !== view.current) other.camera = camera;
    remember(camera);
  };
  const moves = useRef(onMove);
  moves.current = onMove;
  const { graph, threshold, truth, selected, hovered, walk, paths, dark, labels, map } = scene;
  useLayoutEffect(
    () => view.current?.draw(scene, links),
    [graph, links, threshold, truth, selected, hovered, walk, paths, dark, labels, map],
  );
  useFlights(view, props);
  return { view, onMove };
}

/** Flies to walks that are highlighted, and to the symbol that was gone to. */
function useFlights(view: { current: NetworkView | null }, { scene, flight }: OneProps): void {
  const { walk, paths, selected } = scene;
  // While a walk is composed the network stays where it is.
  const fits = usePanel().view.panel !== 'compose';
  useLayoutEffect(() => {
    const highlighted = highlightedWalks({ walk, paths }).flat();
    if (highlighted.length > 0 && fits) view.current?.fit(highlighted);
  }, [walk, paths, fits]);
  useLayoutEffect(() => {
    if (flight > 0 && selected !== null) view.current?.flyTo(selected);
  }, [flight]);
}
