import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Camera, Change, ViewState } from '../state.ts';
import type { CameraPlace } from './view.ts';

/** Milliseconds after which a camera that rests is written into the address. */
const RESTS = 400;
const WHOLE = { x: 0.5, y: 0.5, ratio: 1 };

/** Where the graph is looked at from, in the address: written when it rests, and taken from there when it is another. */
export function useGaze(
  { graphat }: ViewState,
  change: Change,
): { place: CameraPlace | null; moved(place: CameraPlace): void } {
  const timer = useRef(0);
  /** What this page itself wrote, and so need not follow. */
  const written = useRef<Camera | null>(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const place = useMemo(() => {
    if (graphat === written.current) return null;
    const { x, y, ratio } = graphat ? { ...graphat, ratio: graphat.near } : WHOLE;
    return { x, y, ratio, angle: 0 };
  }, [graphat]);
  const moved = ({ x, y, ratio }: CameraPlace) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      const whole = x === WHOLE.x && y === WHOLE.y && ratio === WHOLE.ratio;
      written.current = whole ? null : { x, y, near: ratio };
      change({ graphat: written.current });
    }, RESTS);
  };
  return { place, moved };
}
