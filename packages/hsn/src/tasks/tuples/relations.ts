/** The nine relations of ATOMIC, those that ATOMIC-2020 adds and Event2Mind's three, in words; other names are read as their own words. */
const meanings: Readonly<Record<string, string>> = {
  oEffect: 'then others',
  oReact: 'then others feel',
  oWant: 'then others want',
  xAttr: 'PersonX is seen as',
  xEffect: 'then PersonX',
  xIntent: 'because PersonX intended',
  xNeed: 'but before PersonX needed',
  xReact: 'then PersonX feels',
  xWant: 'then PersonX wants',
  AtLocation: 'is located at',
  CapableOf: 'is capable of',
  Causes: 'causes',
  CausesDesire: 'makes someone want',
  CreatedBy: 'is created by',
  Desires: 'desires',
  HasA: 'has',
  HasFirstSubevent: 'begins with',
  HasLastSubevent: 'ends with',
  HasPrerequisite: 'requires before',
  HasProperty: 'is characterized by',
  HasSubEvent: 'includes',
  HinderedBy: 'can be hindered by',
  InstanceOf: 'is an example of',
  isAfter: 'happens after',
  isBefore: 'happens before',
  isFilledBy: 'blank is filled by',
  MadeOf: 'is made of',
  MadeUpOf: 'is made up of',
  MotivatedByGoal: 'is motivated by',
  NotDesires: 'does not desire',
  ObjectUse: 'is used for',
  PartOf: 'is part of',
  ReceivesAction: 'can receive the action',
  xReason: 'because',
  Xintent: 'because PersonX intended',
  Xemotion: 'then PersonX feels',
  Oemotion: 'then others feel',
};

/** A relation in words: what its token's embedding starts from. */
export function relationMeaning(relation: string): string {
  if (Object.hasOwn(meanings, relation)) return meanings[relation]!;
  const words = relation
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return words === '' ? relation : words.toLowerCase();
}

/** The token that a relation is in both tokenizers. */
export const relationToken = (relation: string): string => `<${relation}>`;

/** What annotators wrote where an event has no such effect. */
export const NONE = 'none';
