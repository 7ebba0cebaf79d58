import { useEffect, useState } from 'preact/hooks';

/** Whether a media query holds, whenever that changes. */
function useMedia(query: MediaQueryList): boolean {
  const [holds, setHolds] = useState(query.matches);
  useEffect(() => {
    const follow = () => setHolds(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return holds;
}

/** As the style sheet has it: below this width the picture stands above the places. */
const narrow = matchMedia('(max-width: 860px)');

/** Whether the page is as narrow as a phone. */
export const useNarrow = (): boolean => useMedia(narrow);

const KEY = 'hsn-explorer-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function stored(): 'light' | 'dark' | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : null;
  } catch {
    return null;
  }
}

/** Light or dark: as chosen here, else as the system is. */
export function useTheme(): { dark: boolean; toggle(): void } {
  const [chosen, setChosen] = useState(stored);
  const systemDark = useMedia(system);
  const dark = chosen === null ? systemDark : chosen === 'dark';
  useEffect(() => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }, [dark]);
  const toggle = () => {
    const next = dark ? 'light' : 'dark';
    setChosen(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Not remembered where storage is refused.
    }
  };
  return { dark, toggle };
}
