import { documentFrequencies, type TextWords, textCount } from './text-words.ts';

const lines = `
a an the this that these those such same other another each every either neither both all any some no none
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one ones who whom whose which what
someone somebody something anyone anybody anything everyone everybody everything nobody nothing
am is are was were be been being do does did doing done have has had having can could may might must shall
should will would ought cannot can't couldn't didn't doesn't don't hadn't hasn't haven't isn't aren't wasn't
weren't won't wouldn't shouldn't mustn't mightn't needn't shan't ain't
and or but nor so yet if unless because although though while whereas whether than as until since
of in on at by for with without within from to into onto upon over under above below between among amongst
through throughout during before after about against along across around behind beside besides beyond down
up off out near toward towards per via despite except
not never ever only just also too very quite rather even still already again once here there then now
when where why how however therefore thus hence more most less least much many few several enough almost
else often always sometimes perhaps maybe instead otherwise anyway indeed yes
get gets got let lets etc ie eg vs oh
im ive youre youve youll theyre theyve theyll weve hes shes thats theres whats
`;

/** English function words, with the contractions that the tokenizer keeps whole, and as people write who spare apostrophes. */
export const englishStopWords: ReadonlySet<string> = new Set(
  lines
    .trim()
    .split(/\s+/)
    .flatMap((word) => [word, word.replace("'", '')]),
);

// Function words of some languages, as `countingWords` cuts them: in small letters, at least two long, parted at apostrophes.

const german = `
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner dieser diese dieses diesen diesem
jeder jede jedes jeden jedem alle allen aller alles manche viele wenige einige solche welcher welche welches
ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen ihre ihren ihrem ihrer ihres mein meine meinen meinem
meiner dein deine deinen sein seine seinen seinem seiner seines unser unsere unseren unserer euer eure man sich selbst
bin bist ist sind seid war waren warst gewesen sei wäre wären habe hast hat haben hatte hatten hätte hätten gehabt werde
wirst wird werden wurde wurden worden würde würden kann kannst können konnte konnten könnte muss müssen musste mussten soll
sollen sollte sollten will wollen wollte wollten darf dürfen durfte mag mögen möchte
und oder aber doch denn sondern weil dass daß ob wenn als wie während bevor nachdem damit obwohl sowie sowohl weder noch
in im an am auf aus bei beim bis durch für gegen hinter mit nach neben ohne seit über um unter von vom vor wegen zu zum zur
zwischen nicht nichts nie niemals nur auch schon sehr so da dort hier hin her heute jetzt dann nun mal immer wieder mehr
wer was wo wohin woher wann warum wieso etwas jemand niemand ja nein hat's ins ans aufs
`;
const french = `
le la les un une des du de au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs
je tu il elle on nous vous ils elles me te se moi toi lui eux en qui que qu quoi dont où lequel laquelle lesquels
suis es est sommes êtes sont étais était étions étaient été être serai sera serait seront soit ai as avons avez ont avais
avait avaient aura aurait eu avoir fait faire fut peut peuvent pouvait doit doivent va vont
et ou mais donc or ni car si comme lorsque quand puisque parce bien ainsi alors aussi afin
dans par pour sur sous avec sans chez vers entre contre depuis pendant avant après dès jusque jusqu près
ne pas plus moins très trop peu tout toute tous toutes même mêmes autre autres aucun aucune chaque plusieurs quelque
quelques tel telle rien jamais encore déjà toujours ici là oui non cela ça celui celle ceux celles ci
`;
const spanish = `
el la los las un una unos unas lo al del de este esta estos estas ese esa esos esas aquel aquella esto eso aquello
yo tú él ella ello nosotros vosotros ellos ellas me te se nos os le les mi mis tu tus su sus nuestro nuestra nuestros
nuestras vuestro mí ti sí conmigo que quien quienes cual cuales cuyo cuya donde cuando como cuanto qué quién cuál
soy eres es somos son era eras éramos eran fui fue fueron ser sido siendo será sería sea sean estoy está estamos están
estaba estaban estar estado he has ha hemos han había habían haber hay hubo haya tengo tiene tienen tenía tener hace hacer
puede pueden podía debe deben va van
y e o u pero sino ni si aunque porque pues mientras
a ante bajo con contra desde durante en entre hacia hasta para por según sin sobre tras
no nada nunca jamás muy más menos mucho mucha muchos muchas poco poca pocos pocas todo toda todos todas otro otra otros
otras mismo misma cada algo alguien algún alguna algunos algunas ningún ninguna tan tanto también tampoco ya aún todavía
siempre aquí allí ahora entonces luego así solo sólo
`;
const italian = `
il lo la gli le un uno una di del dello della dei degli delle al allo alla ai agli alle dal dalla dai nel nella nei nelle
sul sulla sui sulle in con per su da tra fra io tu lui lei noi voi loro mi ti si ci vi ne me te che chi cui quale quali
mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro questo questa questi queste quello quella quelli quelle
sono sei è siamo siete era erano ero essere stato stata stati fu sarà ho hai ha abbiamo avete hanno aveva avevano avere
può possono deve fare fatto va
e ed o ma se perché come quando dove mentre però anche ancora non più meno molto molti poco tutto tutta tutti tutte ogni
altro altra altri altre stesso stessa già sempre mai qui lì ora poi così solo niente nulla
`;
const portuguese = `
os as um uma uns umas ao aos do da dos das no na nos nas pelo pela pelos pelas num numa este esta estes estas esse essa
isso isto aquele aquela aquilo eu tu ele ela nós vós eles elas me te se lhe lhes meu minha meus minhas teu tua seu sua seus
suas nosso nossa que quem qual quais cujo onde quando como quanto sou és é somos são era eram fui foi foram ser sido será
seria seja estou está estamos estão estava estavam estar tenho tem temos têm tinha tinham ter há havia haver faz fazer pode
podem deve vai vão
ou mas se porque pois embora com contra desde em entre para por sem sob sobre até de não nem nada nunca muito muita
muitos muitas pouco mais menos todo toda todos todas outro outra outros outras mesmo mesma cada algo alguém algum alguma
alguns algumas nenhum tão também já ainda sempre aqui ali agora então assim só
`;
const dutch = `
de het een der den dit dat deze die ik jij je hij zij ze wij we jullie hen hun hem haar mij me ons onze mijn jouw zijn uw
ben bent is was waren geweest wordt worden werd werden heb hebt heeft hebben had hadden kan kunnen kon konden moet moeten
moest zal zullen zou zouden wil willen wilde mag mogen
en of maar want dus omdat als toen terwijl dan hoewel zodat dat in op aan uit bij tot door voor tegen met na naar zonder
sinds over om onder van tussen niet niets nooit alleen ook al zeer zo daar hier er nu nog wel weer meer veel weinig alle
alles iets iemand niemand geen elk elke ander andere zelf wie wat waar wanneer waarom hoe te
`;

const listed = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Function words by language. */
export const stopWordsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['English', englishStopWords],
  ['German', listed(german)],
  ['French', listed(french)],
  ['Spanish', listed(spanish)],
  ['Italian', listed(italian)],
  ['Portuguese', listed(portuguese)],
  ['Dutch', listed(dutch)],
]);

export interface CorpusStopWordOptions {
  /** Most words to call stop words; never more than a quarter of the common ones. */
  count?: number;
  /** Share of the texts that have a common word. */
  share?: number;
}

/** Common words looked at, words of their company, and texts read: enough for a ranking, and soon counted. */
const mostCandidates = 500;
const mostCompany = 2000;
const mostTexts = 20_000;

/**
 * Stop words of any language from the corpus alone: common words whose company tells nothing, by the divergence of the
 * words beside them from those of all texts (after Lo, He & Ounis 2005), the least divergent first.
 */
export function corpusStopWords(texts: TextWords, options: CorpusStopWordOptions = {}): Set<string> {
  const { count = 100, share = 0.01 } = options;
  const frequencies = documentFrequencies(texts);
  const company = Uint32Array.from(texts.words.keys())
    .filter((word) => frequencies[word]! > 1)
    .sort((a, b) => frequencies[b]! - frequencies[a]! || a - b)
    .slice(0, mostCompany);
  const least = Math.max(2, share * textCount(texts));
  const candidates = company.slice(0, mostCandidates).filter((word) => frequencies[word]! >= least);
  const [R, V] = [candidates.length, company.length];
  const beside = besideCounts(texts, company, R);
  const overall = Float64Array.from(company, (_, at) => beside.texts[at]!);
  const divergences = Float64Array.from(candidates, (_, at) =>
    companyDivergence(beside.pairs.subarray(at * V, (at + 1) * V), overall, at),
  );
  const places = Array.from(candidates.keys()).sort((a, b) => divergences[a]! - divergences[b]! || a - b);
  const chosen = places.slice(0, Math.min(count, Math.floor(R / 4)));
  return new Set(chosen.map((at) => texts.words[candidates[at]!]!));
}

/** Texts with each word of the company, and with it beside each of the first R of them. [V], [R, V] */
function besideCounts({ words, tokens, starts }: TextWords, company: Uint32Array, R: number) {
  const V = company.length;
  const places = new Int32Array(words.length).fill(-1);
  for (const [place, word] of company.entries()) places[word] = place;
  const pairs = new Float64Array(R * V);
  const texts = new Float64Array(V);
  const stride = Math.ceil((starts.length - 1) / mostTexts);
  const present = new Set<number>();
  for (let text = 0; text + 1 < starts.length; text += stride) {
    present.clear();
    for (let at = starts[text]!; at < starts[text + 1]!; at++) {
      const place = places[tokens[at]!]!;
      if (place >= 0) present.add(place);
    }
    for (const word of present) {
      texts[word]!++;
      if (word < R) for (const other of present) if (other !== word) pairs[word * V + other]!++;
    }
  }
  return { pairs, texts };
}

/** KL of the company's shares from those of all texts, less what it has by chance: (words seen − 1) / 2n (Miller 1955). */
function companyDivergence(counts: Float64Array, overall: Float64Array, self: number): number {
  let [n, seen, all] = [0, 0, -overall[self]!];
  for (const [at, count] of counts.entries()) {
    n += count;
    all += overall[at]!;
    if (count > 0) seen++;
  }
  if (n === 0) return Number.POSITIVE_INFINITY;
  let divergence = 0;
  for (const [at, count] of counts.entries())
    if (count > 0) divergence += (count / n) * Math.log(count / n / (overall[at]! / all));
  return divergence - (seen - 1) / (2 * n);
}

// Shapes: N texts.

/** A text is surely of a language when so much of it is function words of that language, and so many of them. */
const sure = { share: 0.2, words: 3 };
/** A language is one of the corpus when so many texts are surely of it. */
const present = { share: 0.02, texts: 3 };
/**
 * Statistics of fewer texts call words common that tell of a subject, and so they do where function words were taken out
 * before: then the first words do not make up such a share of all.
 */
const natural = { texts: 200, words: 20, share: 0.24 };
/** Texts of which a language is told, at most. */
const mostLooked = 20_000;

const names = [...stopWordsOf.keys()];

/** The languages of a corpus by their function words, most frequent first; none where no known one is there. */
export function languagesOf(texts: TextWords): string[] {
  const isStop = stopFlags(texts);
  const stride = Math.max(1, Math.ceil(textCount(texts) / mostLooked));
  const counts = new Int32Array(names.length);
  let looked = 0;
  for (let n = 0; n < textCount(texts); n += stride, looked++) {
    const [best, hits] = bestLanguage(texts, n, isStop, names.keys());
    const length = texts.starts[n + 1]! - texts.starts[n]!;
    if (hits >= sure.words && hits >= sure.share * length) counts[best]!++;
  }
  const enough = Math.max(1, Math.min(present.texts, looked), present.share * looked);
  return names
    .map((name, at) => ({ name, count: counts[at]! }))
    .filter(({ count }) => count >= enough)
    .sort((a, b) => b.count - a.count)
    .map(({ name }) => name);
}

/**
 * The texts without stop words: those of each text's own language, so that "war" stays in English where German lies
 * beside it; in a corpus of none of the known languages, those that its statistics tell, where it has function words at all.
 */
export function withoutStopWords(texts: TextWords): TextWords {
  const found = languagesOf(texts);
  if (found.length === 0) {
    const common = hasFunctionWords(texts) ? corpusStopWords(texts) : englishStopWords;
    return keptWords(texts, () => (word) => !common.has(texts.words[word]!));
  }
  const isStop = stopFlags(texts);
  const places = found.map((name) => names.indexOf(name));
  return keptWords(texts, (n) => {
    const [own] = bestLanguage(texts, n, isStop, places);
    return (word) => isStop[own]![word] === 0;
  });
}

/** Whether a corpus is written as people write, with few words making up much of it. */
function hasFunctionWords(texts: TextWords): boolean {
  if (textCount(texts) < natural.texts) return false;
  const counts = new Uint32Array(texts.words.length);
  for (const word of texts.tokens) counts[word]!++;
  const most = counts.sort().subarray(-natural.words);
  return most.reduce((sum, count) => sum + count, 0) >= natural.share * texts.tokens.length;
}

/** Whether each word is a stop word of each language. [languages][words] */
function stopFlags({ words }: TextWords): Uint8Array[] {
  return names.map((name) => {
    const list = stopWordsOf.get(name)!;
    return Uint8Array.from(words, (word) => (list.has(word) ? 1 : 0));
  });
}

/** The language with most function words in a text, the first of equal ones, and how many those are. */
function bestLanguage(
  { tokens, starts }: TextWords,
  n: number,
  isStop: readonly Uint8Array[],
  among: Iterable<number>,
): [language: number, hits: number] {
  let best: [number, number] | undefined;
  for (const language of among) {
    let hits = 0;
    for (let at = starts[n]!; at < starts[n + 1]!; at++) hits += isStop[language]![tokens[at]!]!;
    if (!best || hits > best[1]) best = [language, hits];
  }
  return best!;
}

/** The same texts with the words that `keeps` says of each text. */
function keptWords(texts: TextWords, keeps: (text: number) => (word: number) => boolean): TextWords {
  const { words, tokens, starts } = texts;
  const kept = new Uint32Array(tokens.length);
  const keptStarts = new Uint32Array(starts.length);
  let filled = 0;
  for (let n = 0; n + 1 < starts.length; n++) {
    const keep = keeps(n);
    for (let at = starts[n]!; at < starts[n + 1]!; at++) if (keep(tokens[at]!)) kept[filled++] = tokens[at]!;
    keptStarts[n + 1] = filled;
  }
  return { words, tokens: kept.slice(0, filled), starts: keptStarts };
}
