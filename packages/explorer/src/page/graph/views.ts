import { useMemo, useRef, useState } from 'preact/hooks';
import type { CameraPlace, GraphView } from './view.ts';

/** The views of one stage: what is pointed at in one is highlighted in all, and they move together. */
export interface Views {
  hovered: number | null;
  kind: GraphView['kind'] | null;
  hover(symbol: number | null): void;
  add(at: number, view: GraphView): void;
  remove(at: number): void;
  moved(at: number, place: CameraPlace): void;
  first(): GraphView | undefined;
}

/** `onMove` is told where the graph is looked at from, of whichever view was moved. */
export function useViews(onMove: (place: CameraPlace) => void): Views {
  const onMoved = useRef(onMove);
  onMoved.current = onMove;
  const [hovered, hover] = useState<number | null>(null);
  const [kind, setKind] = useState<GraphView['kind'] | null>(null);
  const shared = useMemo(() => {
    const views = new Map<number, GraphView>();
    let leading = false;
    return {
      add: (at: number, view: GraphView) => {
        views.set(at, view);
        setKind(view.kind);
      },
      remove: (at: number) => void views.delete(at),
      moved: (at: number, place: CameraPlace) => {
        // The others say that they moved too, which is no news.
        if (leading) return;
        leading = true;
        for (const [other, view] of views) if (other !== at) view.follow?.(place);
        leading = false;
        onMoved.current(place);
      },
      first: () => views.get(0),
    };
  }, []);
  return { hovered, hover, kind, ...shared };
}
