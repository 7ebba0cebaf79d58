import { englishStopWords } from './stop-words.ts';

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
