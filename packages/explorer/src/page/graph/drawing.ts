import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { PlainView } from './plain-view.ts';
import { type DrawnLink, highlightedWalks, type Scene } from './scene.ts';
import { SigmaView } from './sigma-view.ts';
import { type GraphView, type ViewEvents, webglAvailable } from './view.ts';

export interface Drawing {
  view: RefObject<GraphView | null>;
  /** How the graph is drawn; null before it is. */
  kind: GraphView['kind'] | null;
}

/** Draws scenes into a container, by WebGL where there is any. */
export function useDrawing(
  container: RefObject<HTMLElement | null>,
  events: ViewEvents,
  { scene, links, fits }: { scene: Scene; links: readonly DrawnLink[]; fits: boolean },
): Drawing {
  const view = useRef<GraphView>(null);
  const [kind, setKind] = useState<Drawing['kind']>(null);
  useEffect(() => {
    const Kind = webglAvailable() ? SigmaView : PlainView;
    view.current = new Kind(container.current!, events);
    setKind(view.current.kind);
    return () => view.current?.destroy();
  }, []);
  const { graph, threshold, truth, selected, hovered, walk, paths, dark, labels, map } = scene;
  useEffect(
    () => view.current?.draw(scene, links),
    [graph, links, threshold, truth, selected, hovered, walk, paths, dark, labels, map, kind],
  );
  useEffect(() => {
    const highlighted = highlightedWalks({ walk, paths }).flat();
    if (highlighted.length > 0 && fits) view.current?.fit(highlighted);
  }, [walk, paths, fits, kind]);
  return { view, kind };
}
