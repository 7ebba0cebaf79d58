import { useEffect, useState } from 'preact/hooks';

/** As the style sheet has it: below this width the picture stands above the places. */
const query = matchMedia('(max-width: 860px)');

/** Whether the page is as narrow as a phone. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const follow = () => setNarrow(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return narrow;
}
