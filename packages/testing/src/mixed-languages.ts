// Sentences in four languages about the same three subjects, written for this project.
import { Random } from '@hidden-schema/base';

const languages = {
  English: {
    frames: [
      'we saw that the X and the Y are in the Z',
      'she says it is the X of our Y with a Z',
      'there was no X for him, but the Y and this Z were good',
    ],
    kitchen: 'soup bread butter cheese oven pepper salad kitchen cook'.split(' '),
    sky: 'planet rocket galaxy moon comet telescope orbit star astronaut'.split(' '),
    army: 'war soldier army battle general cannon fortress regiment peace'.split(' '),
  },
  German: {
    frames: [
      'wir haben gesehen dass der X und die Y in dem Z sind',
      'sie sagt es ist der X von unserer Y mit einem Z',
      'es war kein X für ihn aber die Y und dieser Z waren gut',
    ],
    kitchen: 'suppe brot butter käse ofen pfeffer salat küche koch'.split(' '),
    sky: 'planet rakete galaxie mond komet fernrohr umlaufbahn stern raumfahrer'.split(' '),
    army: 'krieg soldat armee schlacht general kanone festung regiment frieden'.split(' '),
  },
  French: {
    frames: [
      'nous avons vu que le X et la Y sont dans le Z',
      'elle dit que ce est le X de notre Y avec un Z',
      'il ne avait pas de X pour lui mais la Y et ce Z étaient bons',
    ],
    kitchen: 'soupe pain beurre fromage four poivre salade cuisine cuisinier'.split(' '),
    sky: 'planète fusée galaxie lune comète télescope orbite étoile astronaute'.split(' '),
    army: 'guerre soldat armée bataille général canon forteresse régiment paix'.split(' '),
  },
  Spanish: {
    frames: [
      'hemos visto que el X y la Y están en el Z',
      'ella dice que es el X de nuestra Y con un Z',
      'no había X para él pero la Y y este Z eran buenos',
    ],
    kitchen: 'sopa pan mantequilla queso horno pimienta ensalada cocina cocinero'.split(' '),
    sky: 'planeta cohete galaxia luna cometa telescopio órbita estrella astronauta'.split(' '),
    army: 'guerra soldado ejército batalla general cañón fortaleza regimiento paz'.split(' '),
  },
} as const;

export type MixedLanguage = keyof typeof languages;
const subjects = ['kitchen', 'sky', 'army'] as const;

/** Texts of three sentences each, with language and subject, in turn. */
export function mixedTexts(count = 240): { language: MixedLanguage; subject: string; text: string }[] {
  const random = new Random(9);
  const names = Object.keys(languages) as MixedLanguage[];
  return Array.from({ length: count }, (_, n) => {
    const language = names[n % names.length]!;
    const subject = subjects[Math.floor(n / names.length) % subjects.length]!;
    const words = languages[language][subject];
    const sentence = (frame: string) => frame.replace(/[XYZ]/g, () => words[random.int(words.length)]!);
    const text = languages[language].frames.map(sentence).join('. ');
    return { language, subject, text };
  });
}
