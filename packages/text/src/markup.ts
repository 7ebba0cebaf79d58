/** Entities that texts have; others stay as they are written. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  deg: '°',
};

/** A text with its character references decoded, `&amp;#39;` as well as `&amp;`. */
export function decodeEntities(text: string): string {
  return text
    .replace(/&#(\d{1,7});/g, (written, digits: string) => character(Number(digits)) ?? written)
    .replace(
      /&#x([\da-f]{1,6});/gi,
      (written, digits: string) => character(Number.parseInt(digits, 16)) ?? written,
    )
    .replace(/&([a-z]{2,8});/gi, (written, name: string) => entities[name.toLowerCase()] ?? written);
}

function character(code: number): string | undefined {
  const readable = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return readable ? String.fromCodePoint(code) : undefined;
}

/** Elements of HTML whose content nobody reads as text. */
const unread = /<(script|style|head|noscript|template|svg)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const comments = /<!--[\s\S]*?-->/g;
const blockTag =
  /<\/?(?:p|div|br|hr|li|ul|ol|h[1-6]|tr|table|section|article|header|footer|blockquote|pre|title|body|html)\b[^<>]*>/gi;
/** A tag begins with a name: "3 < 5" is none. */
const tag = /<\/?[a-z][a-z\d:-]*(?:\s[^<>]*)?\/?>/gi;

/** A text without the tags in it; those of blocks end lines. */
export function withoutTags(text: string): string {
  return text.replace(comments, ' ').replace(blockTag, '\n').replace(tag, ' ');
}

const tidyLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/[ \t\f\v\u00a0]+/g, ' ').trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** What a reader sees of an HTML page; its title first, where it has one. */
export function htmlText(content: string): string {
  const title = /<title\b[^>]*>([\s\S]*?)<\/title\s*>/i.exec(content)?.[1] ?? '';
  const body = withoutTags(content.replace(comments, ' ').replace(unread, ' '));
  return tidyLines(decodeEntities(`${title.replace(/\s+/g, ' ')}\n${body}`));
}

/** The text of a Markdown file: without front matter, images, addresses of links and the signs of markup. */
export function markdownText(content: string): string {
  const text = content
    .replace(/\r\n/g, '\n')
    .replace(/^\uFEFF?---\n[\s\S]*?\n---\n/, '')
    .replace(/^(?:```|~~~).*$/gm, '')
    .replace(/!\[[^\]\n]*\]\([^)\n]*\)/g, ' ')
    .replace(/\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])/g, '$1')
    .replace(/^\[[^\]\n]+\]:\s.*$/gm, '')
    .replace(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm, '$1')
    .replace(/^ {0,3}(?:[-*_] ?){3,}$/gm, '')
    .replace(/^[ \t]*>[ \t]?/gm, '')
    .replace(/^[ \t]*[-*+][ \t]+/gm, '')
    .replace(/(\*\*|__)(?=\S)([^\n]*?\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}])([*_])(?=\S)([^\n]*?\S)\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/`([^`\n]+)`/g, '$1');
  return tidyLines(decodeEntities(withoutTags(text)));
}
