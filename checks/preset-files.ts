import { stringify } from 'yaml';
import { languagePreset, type PresetModel } from '../paper/src/reproduction/presets/language.ts';
import type { PresetName, PresetSettings } from '../paper/src/reproduction/presets/preset.ts';
import { syntheticPreset } from '../paper/src/reproduction/presets/synthetic.ts';
import { tuplesPreset } from '../paper/src/reproduction/presets/tuples.ts';

/** An experiment of the paper as a file of settings. */
export interface PresetFile {
  /** Below experiments/. */
  readonly name: string;
  /** How to run it, one command a line. */
  readonly commands: readonly string[];
  readonly about: string;
  readonly expect: string;
  readonly settings: PresetSettings;
}

const presets: readonly PresetName[] = ['paper', 'authors'];

// Synthetic languages

const graphs = ['barabasi', 'erdos'] as const;
type SyntheticGraph = (typeof graphs)[number];
const LENGTHS = { barabasi: 11, erdos: 10 } as const;
/** p of the prior in Table 1. */
const PRIORS = { barabasi: 0.2, erdos: 0.6 } as const;

const EXPECTED: Readonly<Record<SyntheticGraph, string>> = {
  barabasi: 'the paper has ROC AUC 0.989 ± 0.001, 1360 ± 104 links of 291',
  erdos: 'the paper has ROC AUC 0.94 ± 0.06, 3131 ± 156 links',
};

const syntheticFile = (preset: PresetName, graph: SyntheticGraph): PresetFile => {
  const name = `synthetic/${preset}-${graph}.yaml`;
  const links = graph === 'erdos' ? ` --probability ${preset === 'paper' ? 0.5 : 0.4226}` : '';
  const tokens = preset === 'paper' ? '--tokens 1000' : '--tokens 200 --disjoint';
  return {
    name,
    commands: [
      `hsn synth --graph ${graph}${links} --length ${LENGTHS[graph]} ${tokens} --sentences 100000 --out corpus`,
      `hsn train experiments/${name} --corpus corpus --out run`,
    ],
    about:
      preset === 'paper'
        ? 'Appendix E as written, nothing else: 200 epochs of 70 000 sentences are 54 688 steps of 256.'
        : "What the authors' program does: 200 epochs of 273 whole batches of 256. Their data: hsn data authors.",
    expect: `${EXPECTED[graph]}; never run to its end here.`,
    settings: syntheticPreset(preset, PRIORS[graph]),
  };
};

// Texts

const corpora = ['ptb', 'yahoo', 'yelp'] as const;
type Corpus = (typeof corpora)[number];
const SIZES = [50, 100].flatMap((symbols) => [5, 20].map((length) => ({ symbols, length })));

type Printed = Readonly<Record<Corpus, readonly string[]>>;

/** Table 2: perplexity and nats of information of GPT-2 and of HSN(50, 5), (50, 20), (100, 5), (100, 20). */
const TABLE_2: Printed = {
  ptb: ['24.23', '22.47 and 9.50', '30.38 and 26.06', '20.25 and 9.30', '25.48 and 23.77'],
  yahoo: ['22.00', '20.99 and 10.42', '22.84 and 22.81', '21.01 and 11.21', '21.98 and 16.13'],
  yelp: ['23.40', '19.72 and 10.04', '21.60 and 24.93', '19.82 and 10.20', '21.13 and 18.85'],
};
const TITLES = { ptb: 'the Penn Treebank', yahoo: 'Yahoo', yelp: 'Yelp' } as const;

function languageFile(preset: PresetName, corpus: Corpus, model: PresetModel): PresetFile {
  const alone = model === 'baseline';
  const size = alone ? 'gpt2' : `${model.symbols}-${model.length}`;
  const name = `language/${preset}-${corpus}-${size}.yaml`;
  const what = alone ? 'GPT-2 alone' : `HSN(${model.symbols}, ${model.length})`;
  const said = preset === 'paper' ? 'appendix F.1 as written' : "the authors' files and program";
  const printed =
    TABLE_2[corpus][alone ? 0 : 1 + SIZES.findIndex((one) => size === `${one.symbols}-${one.length}`)]!;
  return {
    name,
    commands: [`hsn train experiments/${name} --corpus ${corpus} --out run`],
    about: `${what} on ${TITLES[corpus]} with ${said}: BERT and GPT-2 tuned together, from a cold start.`,
    expect: `the paper has perplexity ${printed}${alone ? '' : ' nats of information'}; never run to its end here.`,
    settings: languagePreset(preset, corpus, model),
  };
}

// Tuples

const tuplesFile = (symbols: number): PresetFile => {
  const name = `reasoning/paper-atomic-${symbols}-20.yaml`;
  return {
    name,
    commands: [
      `hsn reason train experiments/${name} --tuples atomic --out run`,
      `hsn reason train experiments/${name} --part comet --tuples atomic --out comet`,
      'hsn reason train --part path --run run',
      'hsn reason eval run --comet comet --path lstm --search greedy',
    ],
    about:
      'Section 6 and appendix H as written: L = 20, an LSTM over sampled walks continues first halves. Training as in appendix F.1.',
    expect:
      'the paper has BLEU-2 0.462 (posterior), 0.129 (AR), 0.225 (COMET), 58 % of second halves; never run to its end here.',
    settings: tuplesPreset(symbols),
  };
};

/** Every experiment of the paper, as it says and as the authors have it; the authors have no file for ATOMIC. */
export const presetFiles: readonly PresetFile[] = [
  ...presets.flatMap((preset) => graphs.map((graph) => syntheticFile(preset, graph))),
  ...presets.flatMap((preset) =>
    corpora.flatMap((corpus) =>
      (['baseline', ...SIZES] as readonly PresetModel[]).map((model) => languageFile(preset, corpus, model)),
    ),
  ),
  ...[50, 100].map(tuplesFile),
];

/** A preset as it stands in experiments/. */
export function presetText({ commands, about, expect, settings }: PresetFile): string {
  const head = [
    '# yaml-language-server: $schema=../settings.schema.json',
    ...commands.map((command) => `# ${command}`),
    `# ${about}`,
    `# Expect: ${expect}`,
  ];
  return `${head.join('\n')}\n${stringify(settings)}`;
}
