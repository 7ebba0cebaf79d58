import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { passagesOf, sentencesOf } from '../src/passages.ts';

describe('sentences of a text', () => {
  const cases: [string, string[]][] = [
    ['We came. We saw! Did we win? Yes.', ['We came.', 'We saw!', 'Did we win?', 'Yes.']],
    [
      'The U.S. Government and Mr. Adams met Gen. J. Q. Smith. They spoke.',
      ['The U.S. Government and Mr. Adams met Gen. J. Q. Smith.', 'They spoke.'],
    ],
    [
      'It cost $1.5 million, or 3.25 percent. No. 5 is next. No. We will not.',
      ['It cost $1.5 million, or 3.25 percent.', 'No. 5 is next.', 'No.', 'We will not.'],
    ],
    ['In 1999. Then came 2000.', ['In 1999.', 'Then came 2000.']],
    [
      'He said: "We will go." "Why?" she asked. (They left.) So did I. We stayed.',
      ['He said: "We will go."', '"Why?" she asked.', '(They left.)', 'So did I.', 'We stayed.'],
    ],
    ['“It is so.” ‘No.’ And on', ['“It is so.”', '‘No.’', 'And on']],
    [
      'It ended at 5 p.m. sharp; see art. 3, sec. 4. On Dec. 7 war came.',
      ['It ended at 5 p.m. sharp; see art. 3, sec. 4.', 'On Dec. 7 war came.'],
    ],
    ['Well... And so\n\n on .', ['Well...', 'And so on .']],
    ['  \n ', []],
  ];
  test.each(cases)('%s', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  test('hold every word once, in order, whatever the text', () => {
    const piece = fc.constantFrom(
      'We ',
      'U.S. ',
      'Mr. ',
      '1.5 ',
      '"Go." ',
      'end. ',
      '! ',
      '\n',
      'A',
      '.',
      '“',
      ') ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        const words = text.match(/\S+/g) ?? [];
        expect(sentencesOf(text).join(' ').match(/\S+/g) ?? []).toEqual(words);
      }),
    );
  });
});

describe('passages', () => {
  test('end with a sentence once they have the words; what is left goes to the last', () => {
    const text = 'One two three. Four five. Six seven eight nine. Ten.';
    expect(passagesOf(text, 5)).toEqual(['One two three. Four five.', 'Six seven eight nine. Ten.']);
    expect(passagesOf(text, 1)).toHaveLength(4);
    expect(passagesOf(text, 9)).toEqual([text]);
  });

  test('of a text with fewer words are one, of an empty one none', () => {
    expect(passagesOf('Thank you.', 50)).toEqual(['Thank you.']);
    expect(passagesOf(' \n', 50)).toEqual([]);
  });
});
