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
