import { describe, expect, test } from 'vitest';
import { parseDates } from '../src/dates.ts';

const parsed = (...values: (string | undefined)[]) =>
  Array.from(parseDates(values.map((value, at) => ({ value, where: `t.csv:${at + 2}` }))), (time) =>
    Number.isNaN(time) ? null : new Date(time).toISOString().slice(0, 10),
  );

describe('dates', () => {
  test.each([
    ['1861', '1861-01-01'],
    ['987', '0987-01-01'],
    ['1860s', '1860-01-01'],
    ['1861-03', '1861-03-01'],
    ['2020Q3', '2020-07-01'],
    ['2020-q4', '2020-10-01'],
    ['1861-03-04', '1861-03-04'],
    ['1861/3/4', '1861-03-04'],
    ['18610304', '1861-03-04'],
    ['2016-03-09 00:00:00', '2016-03-09'],
    ['2016-03-09T23:59:59.123Z', '2016-03-09'],
    ['2016-03-09T23:59:59+02:00', '2016-03-09'],
    ['31.12.1999', '1999-12-31'],
    ['4 March 1861', '1861-03-04'],
    ['4th Mar 1861', '1861-03-04'],
    ['March 4, 1861', '1861-03-04'],
    ['Sept. 1861', '1861-09-01'],
    ['9-Nov-1989', '1989-11-09'],
    ['1457481600', '2016-03-09'],
    ['1457481600000', '2016-03-09'],
  ])('%s', (written, day) => {
    expect(parsed(written)).toEqual([day]);
  });

  test('an empty cell is no date', () => {
    expect(parsed('1999', undefined)).toEqual(['1999-01-01', null]);
  });

  test('the whole column says whether days come first between slashes', () => {
    expect(parsed('03/04/1999', '13/04/1999')).toEqual(['1999-04-03', '1999-04-13']);
    expect(parsed('03/04/1999', '04/13/1999')).toEqual(['1999-03-04', '1999-04-13']);
    expect(() => parsed('13/04/1999', '04/13/1999')).toThrow(
      't.csv:2 has 13/04/1999 with the day first, and t.csv:3 has 04/13/1999 with the month first',
    );
    expect(() => parsed('03/04/1999')).toThrow('t.csv:2 has 03/04/1999 as its date, and no other date tells');
  });

  test.each(['yesterday', '2021-02-29', '31.4.1999', '1861-13-01', 'Foo 1861', '12', '99/99/1999'])(
    '%s is refused by its row and value',
    (written) => {
      expect(() => parsed('1999', written)).toThrow(
        `t.csv:3 has ${JSON.stringify(written)} as its date; expected`,
      );
    },
  );
});
