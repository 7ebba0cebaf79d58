import { useEffect, useState } from 'preact/hooks';

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
  const [systemDark, setSystemDark] = useState(system.matches);
  useEffect(() => {
    const follow = () => setSystemDark(system.matches);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
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
