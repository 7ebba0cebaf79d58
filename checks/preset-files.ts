import { stringify } from 'yaml';
import {
  languagePreset,
  type Table2Model,
  table2ModelName,
  table2Models,
} from '../paper/src/reproduction/presets/language.ts';
import type { PresetName, PresetSettings } from '../paper/src/reproduction/presets/preset.ts';
import {
  type SyntheticGraph,
  syntheticPreset,
  WALK_LENGTHS,
} from '../paper/src/reproduction/presets/synthetic.ts';
import { tuplesPreset } from '../paper/src/reproduction/presets/tuples.ts';
import { publishedCorpora, publishedModel, publishedRecovery } from '../paper/src/reproduction/published.ts';

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

const graphs: readonly SyntheticGraph[] = ['barabasi', 'erdos'];
/** p of the prior in Table 1. */
const PRIORS = { barabasi: 0.2, erdos: 0.6 } as const;

function expectedLinks(graph: SyntheticGraph): string {
  const { auc, edges_sampled: links } = publishedRecovery[`${graph}/paper ${PRIORS[graph]}`]!;
  return `the paper has ROC AUC ${auc}, ${links} links${graph === 'barabasi' ? ' of 291' : ''}`;
}

const syntheticFile = (preset: PresetName, graph: SyntheticGraph): PresetFile => {
  const name = `synthetic/${preset}-${graph}.yaml`;
  const links = graph === 'erdos' ? ` --probability ${preset === 'paper' ? 0.5 : 0.4226}` : '';
  const tokens = preset === 'paper' ? '--tokens 1000' : '--tokens 200 --disjoint';
  return {
    name,
    commands: [
      `hsn synth --graph ${graph}${links} --length ${WALK_LENGTHS[graph]} ${tokens} --sentences 100000 --out corpus`,
      `hsn train experiments/${name} --corpus corpus --out run`,
    ],
    about:
      preset === 'paper'
        ? 'Appendix E as written, nothing else: 200 epochs of 70 000 sentences are 54 688 steps of 256.'
        : "What the authors' program does: 200 epochs of 273 whole batches of 256. Their data: hsn data authors.",
    expect: `${expectedLinks(graph)}; ${graph === 'barabasi' ? 'what came out here: docs/research/results.md' : 'never run to its end here'}.`,
    settings: syntheticPreset(preset, PRIORS[graph]),
  };
};

// Texts

const TITLES = { ptb: 'the Penn Treebank', yahoo: 'Yahoo', yelp: 'Yelp' } as const;

function languageFile(preset: PresetName, corpus: keyof typeof TITLES, model: Table2Model): PresetFile {
  const alone = model === 'baseline';
  const size = alone ? 'gpt2' : `${model.symbols}-${model.length}`;
  const name = `language/${preset}-${corpus}-${size}.yaml`;
  const what = alone ? 'GPT-2 alone' : `HSN(${model.symbols}, ${model.length})`;
  const said = preset === 'paper' ? 'appendix F.1 as written' : "the authors' files and program";
  const { perplexity, information } = publishedModel(corpus, table2ModelName(model));
  return {
    name,
    commands: [`hsn train experiments/${name} --corpus ${corpus} --out run`],
    about: `${what} on ${TITLES[corpus]} with ${said}: BERT and GPT-2 tuned together, from a cold start.`,
    expect: `the paper has perplexity ${perplexity}${alone ? '' : ` and ${information} nats of information`}; never run to its end here.`,
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
    publishedCorpora.flatMap((corpus) => table2Models.map((model) => languageFile(preset, corpus, model))),
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
