// Texts of three subjects that share no words but "the" and "and".
import { Random } from '@hidden-schema/base';

export const subjects = {
  food: 'soup bread butter cheese kitchen cook oven pepper salad dinner'.split(' '),
  space: 'planet orbit rocket telescope galaxy astronaut comet moon satellite launch'.split(' '),
  music: 'guitar melody concert singer drums orchestra violin album piano chorus'.split(' '),
};
export type Subject = keyof typeof subjects;

/** 120 texts of six words each, of one of three subjects in turn. */
export function plantedTexts(): [Subject, string][] {
  const random = new Random(4);
  return Array.from({ length: 120 }, (_, n) => {
    const subject = (Object.keys(subjects) as Subject[])[n % 3]!;
    const words = Array.from({ length: 6 }, () => subjects[subject][random.int(10)]!);
    return [subject, `the ${words.join(' and ')}`];
  });
}
