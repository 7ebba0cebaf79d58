import { useCallback, useLayoutEffect, useState } from 'preact/hooks';

/** How a part of the state is written in the address; null where it is as at the start. */
interface Field<T> {
  initial: T;
  read(text: string): T | undefined;
  write(value: T): string;
}

const text = (initial: string): Field<string> => ({
  initial,
  read: (stated) => stated,
  write: (value) => value,
});
const flag: Field<boolean> = {
  initial: false,
  read: (stated) => (stated === '1' ? true : undefined),
  write: () => '1',
};
const between = (initial: number, least: number, most: number, whole = false): Field<number> => ({
  initial,
  read: (stated) => {
    const value = Number(stated);
    const fits = value >= least && value <= most && (!whole || Number.isInteger(value));
    return stated !== '' && fits ? value : undefined;
  },
  write: String,
});
const symbol: Field<number | null> = {
  initial: null,
  read: (stated) => (/^\d{1,7}$/.test(stated) ? Number(stated) : undefined),
  write: String,
};
const numbers: Field<readonly number[]> = {
  initial: [],
  read: (stated) => (/^\d{1,7}(-\d{1,7}){0,199}$/.test(stated) ? stated.split('-').map(Number) : undefined),
  write: (value) => value.join('-'),
};
/** Where something is looked at from: x, y, and how near. */
export interface Camera {
  x: number;
  y: number;
  near: number;
}
const gaze: Field<Camera | null> = {
  initial: null,
  read: (stated) => {
    const [x, y, near, ...more] = stated.split('_').map(Number);
    const fits = [x, y].every((at) => Math.abs(at!) <= 10) && near! > 0 && near! <= 1000 && more.length === 0;
    return fits ? { x: x!, y: y!, near: near! } : undefined;
  },
  write: (value) => [value!.x, value!.y, value!.near].map((at) => Number(at.toPrecision(4))).join('_'),
};
/** A time in UTC milliseconds. */
const instant: Field<number | null> = {
  initial: null,
  // What a date can be.
  read: (stated) =>
    /^-?\d{1,16}$/.test(stated) && Math.abs(Number(stated)) <= 8.64e15 ? Number(stated) : undefined,
  write: String,
};
const names: Field<readonly string[]> = {
  initial: [],
  read: (stated) => {
    try {
      return stated.split('/').flatMap((name) => (name === '' ? [] : [decodeURIComponent(name)]));
    } catch {
      return undefined;
    }
  },
  // A name may have a slash of its own.
  write: (value) => value.map(encodeURIComponent).join('/'),
};
const oneOf = <T extends string>(...values: [T, ...T[]]): Field<T> => ({
  initial: values[0],
  read: (stated) => values.find((value) => value === stated),
  write: (value) => value,
});

const fields = {
  /** The run that is looked at; the first one where empty. */
  run: text(''),
  panel: text('symbol'),
  symbol,
  /** Links less probable than this are not drawn. */
  threshold: between(0.5, 0.01, 1),
  truth: flag,
  colour: oneOf('community', 'label'),
  /** Labels whose maps are drawn: none, one, or two side by side. */
  maps: names,
  /** What is drawn: the network on the map of texts, or one of them alone. */
  show: oneOf('both', 'graph', 'map'),
  /** Which texts are selected: of these labels, passing these symbols, with these words, within a line on the map. */
  label: names,
  only: numbers,
  words: text(''),
  around: numbers,
  /** From a time on, and before another. */
  since: instant,
  until: instant,
  /** How long a period is where shares are shown over time; by how much there is where empty. */
  period: text(''),
  /** Two groups of texts that are compared: each what an address asks of texts; the second all others where empty. */
  first: text(''),
  second: text(''),
  /** The text that is open. */
  point: symbol,
  /** Groups that symbols are drawn as; 0 for each by itself. */
  level: between(0, 0, 1_000_000, true),
  /** Where map and graph are looked at from. */
  mapat: gaze,
  graphat: gaze,
  /** The sentence whose walk is shown. */
  text: text(''),
  /** Of the attention's heat map; -1 is the mean. */
  layer: between(-1, -1, 1000, true),
  head: between(-1, -1, 1000, true),
  /** The walk that is composed, and how it is written about. */
  walk: numbers,
  count: between(4, 1, 20, true),
  temperature: between(0.8, 0, 10),
  topk: between(0, 0, 100_000, true),
  topp: between(0.9, 0.01, 1),
  seed: between(1, 0, 2 ** 31, true),
  /** Sentences to go between. */
  from: text(''),
  to: text(''),
  variant: oneOf('window', 'nodes'),
  /** Runs that are compared. */
  with: names,
  /** The event and the relations that are reasoned about. */
  event: text(''),
  relations: names,
  /** Answers of each relation, and the steps that their walks begin with. */
  answers: between(5, 1, 20, true),
  along: numbers,
} satisfies Record<string, Field<never> | Field<unknown>>;

type ValueOf<F> = F extends { initial: infer T } ? T : never;
/** What the address holds, so that a view can be shared. */
export type ViewState = { [N in keyof typeof fields]: ValueOf<(typeof fields)[N]> };

const entries = Object.entries(fields) as [keyof ViewState, Field<unknown>][];

export function readState(hash: string): ViewState {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const pairs = entries.map(([name, { initial, read }]) => {
    const value = fields.get(name);
    return [name, value === null ? initial : (read(value) ?? initial)];
  });
  return Object.fromEntries(pairs) as ViewState;
}

export function writeState(state: ViewState): string {
  const out = new URLSearchParams();
  for (const [name, { initial, write }] of entries) {
    const value = state[name];
    if (value !== initial && !(Array.isArray(value) && value.length === 0)) out.set(name, write(value));
  }
  return out.toString();
}

/** A list without one of its members, or with it where it was not there. */
export const toggled = <T>(all: readonly T[], one: T): T[] =>
  all.includes(one) ? all.filter((other) => other !== one) : [...all, one];

export type Change = (change: Partial<ViewState>) => void;

/** Sliders and fields in motion would fill the history. */
const quiet = new Set([
  ...['threshold', 'temperature', 'topp', 'topk', 'count', 'seed'],
  ...['answers', 'words', 'level', 'mapat', 'graphat'],
]);

/** The state in the address, followed back and forward. */
export function useViewState(): [ViewState, Change] {
  const [state, setState] = useState(() => readState(location.hash));
  useLayoutEffect(() => {
    const follow = () => setState(readState(location.hash));
    addEventListener('hashchange', follow);
    addEventListener('popstate', follow);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('popstate', follow);
    };
  }, []);
  const change = useCallback((part: Partial<ViewState>) => {
    setState((before) => {
      const next = { ...before, ...part };
      const hash = `#${writeState(next)}`;
      if (hash === `#${writeState(before)}`) return next;
      if (Object.keys(part).every((name) => quiet.has(name))) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
      return next;
    });
  }, []);
  return [state, change];
}
