import { describe, expect, test } from 'vitest';
import { fewerRepeats } from '../src/measures/coherent-words.ts';
import { topicDiversity } from '../src/measures/topic-figures.ts';

const ranked = (words: string) =>
  words.split(' ').map((pair) => {
    const [word, score] = pair.split(':') as [string, string];
    return { word, score: Number(score) };
  });
const plain = (lists: readonly (readonly { word: string }[])[]) =>
  lists.map((list) => list.map(({ word }) => word).join(' '));

describe('fewer repeats among the words of symbols', () => {
  // "film" is dear to the first and cheap to the third; "cast" costs the second least of all.
  const lists = [
    ranked('film:10 cast:8 actor:6 scene:1 drama:1'),
    ranked('novel:10 author:9 cast:5 plot:4.9 page:1'),
    ranked('game:10 level:9 film:5 actor:4 score:3'),
  ];

  test('the repeat that costs its list least goes first, for a word that no list has', () => {
    expect(plain(fewerRepeats(lists, { words: 3, leastDifferent: 0 }))).toEqual([
      'film cast actor',
      'novel author cast',
      'game level film',
    ]);
    expect(plain(fewerRepeats(lists, { words: 3, leastDifferent: 0.85 }))).toEqual([
      'film cast actor',
      'novel author plot',
      'game level film',
    ]);
    const none = fewerRepeats(lists, { words: 3, leastDifferent: 1 });
    expect(plain(none)).toEqual(['film cast actor', 'novel author plot', 'game level score']);
    expect(topicDiversity(plain(none).map((list) => list.split(' ')))).toBe(1);
    for (const list of none)
      expect(list.map(({ score }) => score)).toEqual(
        list.map(({ score }) => score).toSorted((a, b) => b - a),
      );
  });

  test('costs count as shares of the list’s highest score', () => {
    const loud = ranked('x:1000 shared:900 loud:800');
    const quiet = ranked('y:1 shared:0.9 quiet:0.1');
    expect(plain(fewerRepeats([quiet, loud], { words: 2, leastDifferent: 1 }))).toEqual([
      'y shared',
      'x loud',
    ]);
  });

  test('lists without another word keep their repeats, and lists without words are none', () => {
    const short = [ranked('a:2 b:1'), ranked('a:2 b:1'), []];
    expect(plain(fewerRepeats(short, { words: 2, leastDifferent: 1 }))).toEqual(['a b', 'a b', '']);
    expect(fewerRepeats([], { words: 2, leastDifferent: 1 })).toEqual([]);
  });
});
