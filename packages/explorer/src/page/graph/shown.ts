import { useEffect, useState } from 'preact/hooks';
import type { ViewState } from '../state.ts';

export type Shown = Exclude<ViewState['show'], 'auto'>;

/** On narrower pages graph and map have no room side by side. */
const wide = matchMedia('(min-width: 861px)');

/** What is drawn: as asked, else both where there is room; the graph alone where there are no texts. */
export function useShown(asked: ViewState['show'], hasTexts: boolean): Shown {
  const [room, setRoom] = useState(wide.matches);
  useEffect(() => {
    const follow = () => setRoom(wide.matches);
    wide.addEventListener('change', follow);
    return () => wide.removeEventListener('change', follow);
  }, []);
  if (!hasTexts) return 'graph';
  return asked !== 'auto' ? asked : room ? 'both' : 'graph';
}
