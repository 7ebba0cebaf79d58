import { languageConfigSchema } from '@hidden-schema/hsn/config/language';
import { ivaeConfigSchema, optimusConfigSchema, vqConfigSchema } from '@hidden-schema/hsn/config/rivals';
import { dumpConfig, loadConfig } from '@hidden-schema/hsn/config/settings';
import type { LanguageFigures } from '@hidden-schema/hsn/tasks/language/task';
import { type RivalFigures, type TextRunConfig, textRunConfig } from '@hidden-schema/hsn/text-run';
import type { NamedFigure } from '@hidden-schema/studies/analysis/figures';
import { drawCurves } from '@hidden-schema/studies/drawing/index';
import type { Sheet, SheetCell } from '@hidden-schema/studies/evaluation/sheets';

/** Systems of Table 2 that are trained here at equal size and steps; HSN(50, 5) with so many nats for nothing. */
export const systems = [
  'alone',
  'hsn-2.5',
  'hsn-5',
  'hsn-7.5',
  'optimus-a',
  'optimus-b',
  'ivae',
  'vq',
] as const;
export type System = (typeof systems)[number];

const titles: Record<System, string> = {
  alone: 'decoder alone',
  'hsn-2.5': 'HSN(50, 5), capacity 2.5',
  'hsn-5': 'HSN(50, 5), capacity 5',
  'hsn-7.5': 'HSN(50, 5), capacity 7.5',
  'optimus-a': 'Optimus A (λ = 0.05)',
  'optimus-b': 'Optimus B (λ = 1)',
  ivae: 'iVAE_MI',
  vq: 'VQ-VAE(50, 5)',
};

/** What a system's row was measured on. */
export interface SystemRow {
  corpus: string;
  system: System;
  steps: number;
  seconds: number;
  /** Numbers that were trained. */
  parameters: number;
  figures: LanguageFigures | RivalFigures;
}

type Printed = readonly [perplexity: number, information?: number, reconstruction?: number, kl?: number];

/** As printed in Table 2 and its supplement: of other sizes, encoders and budgets. */
const printed: Readonly<Record<string, Partial<Record<System, Printed>>>> = {
  ptb: {
    alone: [24.23],
    'hsn-7.5': [22.47, 9.5, 78.7, 10.3],
    'optimus-a': [23.58, 3.78, 86.43, 4.88],
    'optimus-b': [35.53, 8.18, 77.65, 28.5],
    ivae: [53.44, 12.5, 74.69, 12.51],
  },
  yahoo: {
    alone: [22],
    'hsn-7.5': [20.99, 10.42, 268.4, 11.4],
    'optimus-a': [22.34, 5.34, 282.84, 6.97],
    'optimus-b': [29.92, 9.18, 270.8, 30.41],
    ivae: [47.93, 10.7, 297.7, 11.4],
  },
  yelp: {
    alone: [23.4],
    'hsn-7.5': [19.72, 10.04, 312, 11.3],
    'optimus-a': [21.99, 2.54, 334.31, 3.09],
    'optimus-b': [24.59, 9.13, 325.77, 27.89],
    ivae: [36.88, 11, 348.7, 11.6],
  },
};

/** Sizes that train in minutes: the same for every system. */
const quickSizes = { decoder: { width: 128, layers: 2, vocabularySize: 3000 }, batch: 32 };
const quickWarmStart = { steps: 800, hold: 200, sentences: 4000 };
const defaultSteps = { quick: 1000, full: 3000 };
/** Cycles of β in a training, as its inventors have them. */
const cycles = 4;

export interface SystemsAsked {
  quick: boolean;
  steps?: number;
  /** `key=value` for every system alike; what one of them does not have is refused. */
  set?: readonly string[];
}

/** The settings of a system; decoder, tokens, batch and steps are those of all others. */
export function systemConfig(system: System, asked: SystemsAsked): TextRunConfig {
  const text = dumpConfig(plainConfig(system, asked));
  return textRunConfig(loadConfig(text, titles[system], asked.set));
}

function plainConfig(system: System, asked: SystemsAsked): TextRunConfig {
  const { quick, steps = quick ? defaultSteps.quick : defaultSteps.full } = asked;
  const { batch, decoder } = quick ? quickSizes : { batch: 64, decoder: {} };
  const training = { steps, batch, evaluateEvery: Math.max(1, Math.ceil(steps / 4)), patience: 100 };
  const common = { decoder, training };
  const cycle = { beta: { steps: Math.max(1, Math.ceil(steps / cycles)) } };
  switch (system) {
    case 'alone':
      return languageConfigSchema.parse({ ...common, model: 'language', baseline: true });
    case 'optimus-a':
    case 'optimus-b':
      return optimusConfigSchema.parse({
        ...common,
        ...cycle,
        model: 'optimus',
        threshold: system === 'optimus-a' ? 0.05 : 1,
      });
    case 'ivae':
      return ivaeConfigSchema.parse({
        ...common,
        model: 'ivae',
        decoder: { ...decoder, layers: 1 },
        beta: { steps: Math.max(1, Math.ceil(steps / 2)) },
      });
    case 'vq':
      return vqConfigSchema.parse({ ...common, model: 'vq' });
    default:
      return languageConfigSchema.parse({
        ...common,
        model: 'language',
        objective: { capacity: Number(system.slice('hsn-'.length)) },
        ...(quick ? { warmStart: quickWarmStart } : {}),
      });
  }
}

const columns = [
  { title: 'corpus' },
  { title: 'system' },
  { title: 'PPL', digits: 2 },
  { title: '±', digits: 2 },
  { title: 'to decoder alone', digits: 3 },
  { title: 'paper', digits: 2 },
  { title: 'MI exact', digits: 2 },
  { title: 'at most', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'Rec', digits: 1 },
  { title: 'paper', digits: 1 },
  { title: 'KL', digits: 2 },
  { title: 'paper', digits: 2 },
  { title: 'active' },
  { title: 'million weights', digits: 2 },
  { title: 'steps' },
  { title: 'minutes', digits: 1 },
] as const;

/** Every system beside the others, and beside what the paper prints of it. */
export function systemsSheet(rows: readonly SystemRow[], caption: string): Sheet {
  return {
    name: 'table2-systems',
    title: 'Table 2, its systems trained at equal size and steps',
    caption,
    columns: [...columns],
    rows: rows.map((row) => cells(row, rows)),
  };
}

function cells(row: SystemRow, all: readonly SystemRow[]): SheetCell[] {
  const { corpus, system, steps, seconds, parameters } = row;
  const figures: Partial<LanguageFigures & RivalFigures> = row.figures;
  const [perplexity, information, reconstruction, kl] = printed[corpus]?.[system] ?? [];
  const alone = all.find((one) => one.corpus === corpus && one.system === 'alone')?.figures.perplexity;
  return [
    corpus.toUpperCase(),
    titles[system],
    figures.perplexity,
    figures.perplexity_error,
    alone === undefined ? undefined : row.figures.perplexity / alone,
    perplexity,
    figures.mutual_information_exact,
    figures.mutual_information_bound,
    information,
    figures.reconstruction,
    reconstruction,
    figures.kl ?? figures.kl_walk,
    kl,
    figures.active_units ?? figures.symbols_used,
    parameters / 1e6,
    steps,
    seconds / 60,
  ];
}

/** Perplexity against information of every system on a corpus; HSN's capacities are one curve. */
export function systemsFigure(rows: readonly SystemRow[], corpus: string): NamedFigure {
  const placed = rows
    .filter((row) => row.corpus === corpus)
    .map(({ system, figures }) => ({
      system,
      at: [figures.mutual_information_exact ?? 0, figures.perplexity] as const,
    }));
  const schemas = placed.filter(({ system }) => system.startsWith('hsn-'));
  const others = placed.filter(({ system }) => !system.startsWith('hsn-'));
  const curve = { name: 'HSN(50, 5)', points: schemas.map(({ at }) => at).sort((a, b) => a[0] - b[0]) };
  const title = `Perplexity against information, ${corpus.toUpperCase()}`;
  const svg = drawCurves({
    title,
    xLabel: 'I(z; x) of the test sentences, nats',
    yLabel: 'perplexity',
    series: [
      ...(schemas.length > 0 ? [curve] : []),
      ...others.map(({ system, at }) => ({ name: titles[system], points: [at] })),
    ],
  });
  return { name: `table2-systems-${corpus}`, title, svg };
}
