import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { Interpolation, NamedFigure, Sheet, StudiedRun } from '@hidden-schema/studies';
import { deliver, encodedOf, progressOf, withAnalysed } from './analysis.ts';
import type { ReproduceFlags } from './reproduce.ts';
import { runsOf } from './reproduce-run.ts';
import { say } from './terminal.ts';

type Reproduction = (runs: readonly string[], flags: ReproduceFlags) => Promise<void>;

const reproductions: Readonly<Record<string, Reproduction>> = {
  figure3: degreeFigures,
  figure4: labelFigures,
  'table-graph': graphTables,
  'table-attention': attentionTables,
  interpolations,
};

/** A table or figure of Section 5 and its appendices, ours beside the paper's. */
export async function reproduceLanguage(name: string, flags: ReproduceFlags): Promise<void> {
  await reproductions[name]!(await runsOf(flags), flags);
}

const checkpoint = { checkpoint: 'best' };
/** What differs from the paper whatever is shown. */
const different =
  "The paper trained BERT and GPT-2 on the whole of each corpus; ours is the run's own encoder, decoder, corpus and size, named in its MODEL.md.";

async function studied(runs: readonly string[]): Promise<StudiedRun[]> {
  const { linkProbabilities } = await import('@hidden-schema/hsn');
  const { studyGraph } = await import('@hidden-schema/studies');
  const { onProgress, done } = await progressOf('sample', 'graphs');
  const all: StudiedRun[] = [];
  for (const directory of runs)
    await withAnalysed(directory, checkpoint, async ({ model, symbols, length, run }) => {
      const study = studyGraph(linkProbabilities(model), symbols, { onProgress, seed: run.config.seed });
      all.push({ name: path.basename(run.record.corpus.directory), symbols, length, study });
    });
  done();
  return all;
}

async function graphTables(runs: readonly string[], flags: ReproduceFlags): Promise<void> {
  const { graphTable } = await import('@hidden-schema/studies');
  const all = await studied(runs);
  const verdicts = all.map(({ name, study }) => `${name}: ${study.verdict.text}`);
  await deliver('', flags, {
    name: 'table-graph',
    data: all,
    sheets: [graphTable(all)],
    text: [
      `Mean ± sd over ${all[0]!.study.inferred.samples} sampled graphs; edges without loops, distances of the largest component. The paper does not say whether its edges count loops.`,
      ...verdicts,
      different,
    ].join(' '),
  });
}

async function degreeFigures(runs: readonly string[], flags: ReproduceFlags): Promise<void> {
  const { degreesFigure } = await import('@hidden-schema/studies');
  const all = await studied(runs);
  const samples = all[0]!.study.inferred.samples;
  const title = `Degree distributions, ${samples} sampled graphs`;
  const svg = degreesFigure(
    [
      ...all.map(({ name, symbols, length, study }) => ({
        name: `HSN(${symbols}, ${length}) on ${name}`,
        summary: study.inferred,
      })),
      { name: 'random, p = 0.5', summary: all[0]!.study.half, dashed: true },
      {
        name: `random, p = ${all[0]!.study.inferred.density.toFixed(2)}`,
        summary: all[0]!.study.sameDensity,
        dashed: true,
      },
    ],
    title,
  );
  await deliver('', flags, {
    name: 'figure3',
    data: all,
    sheets: [degreesSheet(all)],
    figures: [{ name: 'figure3', title, svg }],
    text: `The paper prints curves without numbers, and notes that its graphs differ from simple random ones. ${different}`,
  });
}

function degreesSheet(all: readonly StudiedRun[]): Sheet {
  const rows = all.flatMap(({ name, study }) =>
    [
      [name, study.inferred] as const,
      ['random, p = 0.5', study.half] as const,
      ['random, as dense', study.sameDensity] as const,
    ].map(([graph, { degrees }]) => {
      const mean = degrees.reduce((sum, { degree, mean: share }) => sum + degree * share, 0);
      const spread = degrees.reduce((sum, { degree, mean: share }) => sum + share * (degree - mean) ** 2, 0);
      return [graph, mean, Math.sqrt(spread)];
    }),
  );
  const columns = [
    { title: 'graph' },
    { title: 'mean degree', digits: 2 },
    { title: 'spread (sd)', digits: 2 },
  ];
  return { name: 'figure3', title: 'Degrees', columns, rows };
}

const shownLabels = 4;

async function labelFigures(runs: readonly string[], flags: ReproduceFlags): Promise<void> {
  const base = await import('@hidden-schema/base');
  const studies = await import('@hidden-schema/studies');
  const figures: NamedFigure[] = [];
  const sheets: Sheet[] = [];
  const data: unknown[] = [];
  for (const directory of runs)
    await withAnalysed(directory, checkpoint, async (run, signal) => {
      const encoded = await encodedOf(run, {}, signal);
      const maps = studies.labelMaps(encoded);
      encoded.close();
      if (maps.maps.length === 0)
        throw new base.UserError(`the corpus of ${directory} has no labels; give a run of labelled texts`);
      const name = runs.length > 1 ? `figure4-${path.basename(directory)}` : 'figure4';
      const title = `Schema distributions, HSN(${run.symbols}, ${run.length}) on ${corpusOf(run)}`;
      figures.push({ ...studies.drawLabelMaps(run, maps.maps.slice(0, shownLabels), title), name });
      figures.push({ ...studies.drawLabelMaps(run, maps.maps, title), name: `${name}-all` });
      sheets.push(studies.divergenceSheet(maps, maps.divergence, `${name}-divergence`));
      data.push({ run: directory, ...maps });
    });
  await deliver('', flags, {
    name: 'figure4',
    data,
    sheets,
    figures,
    text: `The paper's figure shows four labels of Yahoo and of Yelp and says that labels alike in meaning lie closer; the divergence above puts a number on that. Positions are the same for all labels. ${different}`,
  });
}

const corpusOf = ({ run }: OpenedRun): string => path.basename(run.record.corpus.directory);

async function attentionTables(runs: readonly string[], flags: ReproduceFlags): Promise<void> {
  const studies = await import('@hidden-schema/studies');
  await withAnalysed(runs[0]!, checkpoint, async (opened, signal) => {
    const run = studies.languageRun(opened, 'table-attention');
    const encoded = await encodedOf(run, {}, signal);
    try {
      const words = flags.words?.split(',') ?? (await defaultWords(encoded));
      const { onProgress, done } = await progressOf('attention', 'sentences');
      const study = await studies.studyAttention(run, encoded, words, { signal, onProgress });
      done();
      await deliver('', flags, {
        name: 'table-attention',
        data: study,
        sheets: [studies.attentionTable(study)],
        figures: studies.drawAttention(study, studies.symbolNames(runs[0]!)),
        text: `KL in nats for each head, averaged over the heads of a layer; one count is spread over all symbols first, since the paper does not say how it treats symbols that a word never attends to. Words occur ${study.words.map(({ word, occurrences }) => `${word} ${occurrences}`).join(', ')} times. The paper's model is HSN(100, 5) on Yelp with 12 layers of 12 heads. ${different}`,
      });
    } finally {
      encoded.close();
    }
  });
}

type Encoded = Awaited<ReturnType<typeof encodedOf>>;

/** The paper's words where the corpus has them; else three frequent ones, which say nothing of sentiment. */
async function defaultWords(encoded: Encoded): Promise<string[]> {
  const { publishedAttention, wordsOf } = await import('@hidden-schema/studies');
  const counts = new Map<string, number>();
  for (let n = 0; n < Math.min(encoded.count, 2000); n++)
    for (const { word } of wordsOf(encoded.sentence(n).text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (publishedAttention.words.every((word) => counts.has(word))) return [...publishedAttention.words];
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word);
  const chosen = ranked.filter((word) => word.length > 3).slice(0, 3);
  say(`this corpus has not all of good, bad and great; compared are ${chosen.join(', ')}\n`);
  return chosen;
}

const pairsShown = 4;

async function interpolations(runs: readonly string[], flags: ReproduceFlags): Promise<void> {
  const studies = await import('@hidden-schema/studies');
  await withAnalysed(runs[0]!, checkpoint, async (opened, signal) => {
    const run = studies.languageRun(opened, 'interpolations');
    const encoded = await encodedOf(run, {}, signal);
    const names = studies.symbolNames(runs[0]!);
    const found: Interpolation[] = [];
    const sheets: Sheet[] = [];
    for (const [a, b] of pairsOf(encoded, pairsShown)) {
      const way = await studies.interpolateWalks(run, a.walk, b.walk, { write: { maxTokens: 60 } });
      const complete = {
        ...way,
        first: { ...way.first, text: a.text },
        second: { ...way.second, text: b.text },
      };
      found.push(complete);
      const title = `Interpolate: ${a.label ?? 'one sentence'} – ${b.label ?? 'another'}${way.unreachable ? ` (${way.unreachable})` : ''}`;
      const name = `interpolation-${found.length}`;
      sheets.push({ ...studies.interpolationSheet(complete, names), name, title });
    }
    encoded.close();
    await deliver('', flags, {
      name: 'interpolations',
      data: found,
      sheets,
      text: `The paper shows four such ways on Yahoo and Yelp, of four steps each; ours have as many as the paths take. "from" and "to" are the sentences themselves, the first and last step what the decoder makes of their walks. ${different}`,
    });
  });
}

/** Sentences of the test split, each with one of another label where there are labels. */
function pairsOf(encoded: Encoded, count: number) {
  const pairs = [];
  for (let n = 0; n < encoded.count && pairs.length < count; n++) {
    for (let m = n + 1; m < encoded.count; m++) {
      if (encoded.labels.length > 1 && encoded.labelOf[m] === encoded.labelOf[n]) continue;
      pairs.push([encoded.sentence(n), encoded.sentence(m)] as const);
      n = m;
      break;
    }
  }
  return pairs;
}
