import type { Inks as PlainInks } from '@hidden-schema/studies/drawing';

/** Colours of drawings, written into them so that a downloaded file looks like the page. */
export interface Inks extends PlainInks {
  accent: string;
}

const inks: Record<'light' | 'dark', Inks> = {
  light: { ground: '#ffffff', ink: '#1c2530', faint: '#5d6a7c', line: '#dfe4ea', accent: '#2563c9' },
  dark: { ground: '#151b23', ink: '#e4eaf2', faint: '#93a1b5', line: '#2a333f', accent: '#6ea8fe' },
};
export const inksOf = (dark: boolean): Inks => inks[dark ? 'dark' : 'light'];

export const FONT = 'system-ui, sans-serif';
