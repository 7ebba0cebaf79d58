import type { LanguageFigures } from '@hidden-schema/hsn';
import { expect, test } from 'vitest';
import { languageText } from '../src/evaluation-text.ts';

const text = (paper: number) =>
  languageText({ perplexity: 42, perplexity_paper: paper } as unknown as LanguageFigures);

test('an estimate that broke down is said in words, not as a number', () => {
  expect(text(1.9e22)).toContain('the estimator of Eq. 34 broke down');
  expect(text(1.9e22)).not.toMatch(/e\+|19000000/);
  expect(text(Number.POSITIVE_INFINITY)).toContain('broke down');
  expect(text(51.5)).toContain('51.50');
});
