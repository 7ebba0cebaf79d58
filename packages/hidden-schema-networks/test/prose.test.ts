import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MOST_WORDS = 30;

/** Pages that newcomers read; reference and research may be denser. */
const pages = ['start', 'guides', 'concepts'].flatMap((room) =>
  fs
    .readdirSync(path.join(ROOT, 'docs', room))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${room}/${name}`),
);

/** Sentences of a page's prose: without code, tables, pictures, comments and link targets. */
function sentencesOf(markdown: string): string[] {
  const prose = markdown
    .replace(/^```[\s\S]*?^```/gm, '\n\n')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^\|.*$/gm, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'code')
    .replace(/^\s*([-*]|\d+\.)\s+/gm, '\n\n')
    .replace(/^#.*$/gm, '\n\n');
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) =>
      paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?:;])["”’)*_]*\s+(?=[A-Z"“*(_`]|code\b)|;\s+/),
    )
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;

describe('pages for newcomers have no long sentences', () => {
  test.each(pages)('%s', (page) => {
    const long = sentencesOf(fs.readFileSync(path.join(ROOT, page), 'utf8')).filter(
      (sentence) => wordsOf(sentence) > MOST_WORDS,
    );
    expect(long).toEqual([]);
  });

  test('the check finds one', () => {
    const long = Array.from({ length: 31 }, (_, i) => `Word${i}`).join(' ');
    const found = sentencesOf(
      `# A title\n\nShort one. ${long}.\n\n\`\`\`sh\n${long}\n\`\`\`\n\n| ${long} |\n`,
    );
    expect(found.filter((sentence) => wordsOf(sentence) > MOST_WORDS)).toEqual([`${long}.`]);
  });
});
