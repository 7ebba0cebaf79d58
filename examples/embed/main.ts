// A page of your own with the explorer's map and network: npx vite examples/embed
// With `?run=http://127.0.0.1:PORT/` it shows a run of `hsn serve` that this page may ask; else six texts of its own.
import type { Answer } from '@hidden-schema/explorer/api';
import {
  mapPropsOf,
  networkPropsOf,
  SchemaMap,
  type SchemaMapProps,
  SchemaNetwork,
  type SchemaNetworkProps,
  type Theme,
  type ThemeLink,
} from '@hidden-schema/explorer/components';

const element = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
};

interface Shown {
  map: SchemaMapProps;
  network: SchemaNetworkProps;
}

/** Six letters over three themes; each goes through two of them. */
function ownTexts(): Shown {
  const themes: Theme[] = [
    { name: 'harvest', usage: 0.4, community: 0 },
    { name: 'weather', usage: 0.35, community: 0 },
    { name: 'family', usage: 0.25, community: 1 },
  ];
  const links: ThemeLink[] = [
    [0, 1, 1],
    [1, 2, 0.4],
  ];
  const places = [0.2, 0.3, 0.25, 0.35, 0.3, 0.6, 0.35, 0.65, 0.75, 0.5, 0.8, 0.45];
  const walks = [0, 1, 0, 1, 1, 0, 1, 0, 2, 1, 2, 1];
  return {
    map: { places, walks, length: 2, themes, links },
    network: { themes, links, layout: [0.1, 0.2, 0.5, 0.8, 0.9, 0.3] },
  };
}

/** A run that `hsn serve` serves. */
async function servedRun(address: string): Promise<Shown> {
  const ask = async <T>(path: string): Promise<T> =>
    (await fetch(new URL(path, address))).json() as Promise<T>;
  const graph = await ask<Answer<'graph'>>('/api/graph');
  return { map: mapPropsOf(await ask<Answer<'map'>>('/api/map'), graph), network: networkPropsOf(graph) };
}

const address = new URLSearchParams(location.search).get('run');
const shown = address === null ? ownTexts() : await servedRun(address);
const say = (text: string) => {
  element('said').textContent = text;
};
const map = new SchemaMap(element('map'), {
  ...shown.map,
  onSelectText: (text) => {
    map.update({ open: text });
    say(text === null ? 'No text.' : `Text ${text + 1}.`);
  },
  onSelectTheme: (theme) => choose(theme),
});
const network = new SchemaNetwork(element('network'), {
  ...shown.network,
  onSelect: (theme) => choose(theme),
});

/** A theme that is pressed in one stands out in both. */
function choose(theme: number | null): void {
  map.update({ focus: theme });
  network.update({ selected: theme });
  say(theme === null ? 'No theme.' : `Theme: ${shown.map.themes[theme]?.name}.`);
}
