import { decodeEntities, withoutTags } from './markup.ts';

/** Character references that lost their "&" on the way, as in "it#39;s" and "quot;yes quot;". */
const brokenReference = /(?<![&\p{L}\p{N}])(?=(?:#\d{2,5}|quot|amp|lt|gt|nbsp);)/giu;
/** "season #39;s": the apostrophe, with a space before it. */
const brokenApostrophe = /(?<=\p{L}) ?&?#39;(?=\p{L})/gu;
const address = /\b(?:(?:https?|ftp):\/\/|www\.)[^\s<>"'()[\]{}]*[^\s<>"'()[\]{}.,;:!?]/gi;
const mail = /(?<![\p{L}\p{N}])[\w.%+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})+/giu;

const agencies =
  'AP|AFP|UPI|CNN|ANSA|EFE|DPA|dpa|TASS|PTI|IANS|Xinhua|Reuters|Bloomberg|AP Photo|Associated Press|Canadian Press|SPACE\\.com|CP|PRNewswire|Business Wire|BUSINESS WIRE';
/** "WASHINGTON (Reuters) - ", "AP - ", "(AFP) –" at the beginning of a text or line. */
const dateline = new RegExp(
  `^(?:[A-Z][\\p{L}.,'/ -]{1,60}?\\s)?\\(?(?:${agencies})\\)?\\s+[-–—]{1,2}\\s+`,
  'gmu',
);
/** "(Reuters)" and "(AP)" elsewhere, and what is left of them between dashes. */
const tagged = new RegExp(`\\((?:${agencies})\\)`, 'gu');

/** Whether there may be anything to clean: most texts have nothing. */
const suspicious = new RegExp(
  `[<@]|&#?\\w|#\\d\\d|(?:quot|amp|lt|gt|nbsp);|:\\/\\/|www\\.|\\(?(?:${agencies})\\b`,
  'iu',
);

/**
 * A text without what nobody says: tags of markup, character references, addresses of pages and mail, and the tags of news
 * agencies. A text that has none of these is the same string. A text of nothing else is left as it is.
 */
export function cleanText(text: string): string {
  if (!suspicious.test(text)) return text;
  const decoded = decodeEntities(
    decodeEntities(text.replace(brokenApostrophe, "'").replace(brokenReference, '&')),
  );
  const cleaned = withoutTags(decoded)
    .replace(address, ' ')
    .replace(mail, ' ')
    .replace(dateline, '')
    .replace(tagged, ' ');
  if (cleaned === text) return text;
  const tidy = cleaned
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
  return /[\p{L}\p{N}]/u.test(tidy) ? tidy : text;
}
