import { describe, expect, test } from 'vitest';
import { MAIN_SETTINGS, settingsJsonSchema } from '../src/config/json-schema.ts';
import { loadConfig } from '../src/config/settings.ts';

interface Schema {
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, object>;
  additionalProperties?: boolean;
  description?: string;
  $comment?: string;
}

/** Settings by their places. */
function leaves(schema: Schema, place = ''): [string, Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const at = place === '' ? key : `${place}.${key}`;
    return inner.properties ? leaves(inner, at) : [[at, inner] as [string, Schema]];
  });
}

/** Whether a schema takes a setting's name. */
function accepts(schema: Schema, place: string): boolean {
  const [first = '', ...rest] = place.split('.');
  const inner = schema.properties?.[first];
  if (inner) return rest.length === 0 || accepts(inner, rest.join('.'));
  return (
    schema.additionalProperties !== false ||
    Object.keys(schema.patternProperties ?? {}).some((pattern) => new RegExp(pattern).test(first))
  );
}

const kinds = ['language', 'reasoning', 'synthetic'];
const all = kinds.map((kind) => leaves(settingsJsonSchema(kind, { all: true }) as Schema));

describe('main and advanced settings', () => {
  test('about forty are main ones, and every one exists', () => {
    const names = Object.keys(MAIN_SETTINGS);
    expect(names.length).toBeGreaterThan(30);
    expect(names.length).toBeLessThanOrEqual(42);
    const existing = new Set(all.flat().map(([place]) => place));
    expect(names.filter((name) => !existing.has(name))).toEqual([]);
  });

  test.each(kinds)('%s: the short schema shows the main ones and takes the others by name', (kind) => {
    const short = settingsJsonSchema(kind) as Schema;
    for (const [place, { description }] of leaves(short)) {
      expect(Object.keys(MAIN_SETTINGS)).toContain(place);
      expect(description).toBe(MAIN_SETTINGS[place]);
    }
    for (const [place] of all[kinds.indexOf(kind)]!)
      expect([place, accepts(short, place)]).toEqual([place, true]);
    for (const wrong of ['sympols', 'walk.rang', 'training.rates', 'walk.range2'])
      expect([wrong, accepts(short, wrong)]).toEqual([wrong, false]);
  });

  test('the long schema marks every setting as one or the other', () => {
    for (const [place, { description, $comment }] of all.flat())
      expect([place, description, $comment]).toEqual([
        place,
        MAIN_SETTINGS[place],
        MAIN_SETTINGS[place] === undefined ? 'advanced' : undefined,
      ]);
  });

  test('both are read from a file alike', () => {
    const yaml = 'model: language\nsymbols: 7\nwalk: { constant: 0.25 }\n';
    expect(loadConfig(yaml, 'settings')).toMatchObject({ symbols: 7, walk: { constant: 0.25 } });
  });
});
