import { languageConfigSchema } from '@hidden-schema/hsn/config/language';
import { ivaeConfigSchema, optimusConfigSchema, vqConfigSchema } from '@hidden-schema/hsn/config/rivals';
import { dumpConfig, loadConfig } from '@hidden-schema/hsn/config/settings';
import type { LanguageFigures } from '@hidden-schema/hsn/tasks/language/task';
import { type RivalFigures, type TextRunConfig, textRunConfig } from '@hidden-schema/hsn/text-run';
import { drawCurves } from '@hidden-schema/studies/drawing/index';
import type { NamedFigure } from '@hidden-schema/studies/drawing/results';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import { type FilledColumn, filled } from './columns.ts';
import { type Published, printedNumber, publishedModel } from './published.ts';

/** Systems of Table 2 that are trained here at equal size and steps; HSN(50, 5) with so many nats for nothing. */
const titles = {
  alone: 'decoder alone',
  'hsn-2.5': 'HSN(50, 5), capacity 2.5',
  'hsn-5': 'HSN(50, 5), capacity 5',
  'hsn-7.5': 'HSN(50, 5), capacity 7.5',
  'optimus-a': 'Optimus A (λ = 0.05)',
  'optimus-b': 'Optimus B (λ = 1)',
  ivae: 'iVAE_MI',
  vq: 'VQ-VAE(50, 5)',
} as const;
export type System = keyof typeof titles;
export const systems = Object.keys(titles) as readonly System[];

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

/** Sizes that train in minutes: the same for every system. */
const quickSizes = { decoder: { width: 128, layers: 2, vocabularySize: 3000 }, batch: 32 };
const quickWarmStart = { steps: 800, hold: 200, sentences: 4000 };
const defaultSteps = { quick: 1000, full: 3000 };
/** Cycles of β in a training, as its inventors have them. */
const cycles = 4;

interface SystemsAsked {
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

/** A row beside what the paper prints of it. */
interface Line extends SystemRow {
  any: Partial<LanguageFigures & RivalFigures>;
  /** Perplexity of the decoder alone on this corpus. */
  alone: number | undefined;
  printed: Published;
}

const columns: readonly FilledColumn<Line>[] = [
  { title: 'corpus', of: ({ corpus }) => corpus.toUpperCase() },
  { title: 'system', of: ({ system }) => titles[system] },
  { title: 'PPL', digits: 2, of: ({ any }) => any.perplexity },
  { title: '±', digits: 2, of: ({ any }) => any.perplexity_error },
  {
    title: 'to decoder alone',
    digits: 3,
    of: ({ figures, alone }) => (alone === undefined ? undefined : figures.perplexity / alone),
  },
  { title: 'paper', digits: 2, of: ({ printed }) => printedNumber(printed.perplexity) },
  { title: 'MI exact', digits: 2, of: ({ any }) => any.mutual_information_exact },
  { title: 'at most', digits: 2, of: ({ any }) => any.mutual_information_bound },
  { title: 'paper', digits: 2, of: ({ printed }) => printedNumber(printed.information) },
  { title: 'Rec', digits: 1, of: ({ any }) => any.reconstruction },
  { title: 'paper', digits: 1, of: ({ printed }) => printedNumber(printed.reconstruction) },
  { title: 'KL', digits: 2, of: ({ any }) => any.kl ?? any.kl_walk },
  { title: 'paper', digits: 2, of: ({ printed }) => printedNumber(printed.walk) },
  { title: 'active', of: ({ any }) => any.active_units ?? any.symbols_used },
  { title: 'million weights', digits: 2, of: ({ parameters }) => parameters / 1e6 },
  { title: 'steps', of: ({ steps }) => steps },
  { title: 'minutes', digits: 1, of: ({ seconds }) => seconds / 60 },
];

/** The model of Tables 2 and 6 that a system stands beside: the highest capacity is nearest to the paper's HSN(50, 5). */
const printedAs = (system: System): string => (system === 'hsn-7.5' ? '50-5' : system);

/** Every system beside the others, and beside what the paper prints of it: of other sizes, encoders and budgets. */
export function systemsSheet(rows: readonly SystemRow[], caption: string): Sheet {
  const alone = (corpus: string) =>
    rows.find((one) => one.corpus === corpus && one.system === 'alone')?.figures.perplexity;
  const lines = rows.map((row) => ({
    ...row,
    any: row.figures,
    alone: alone(row.corpus),
    printed: publishedModel(row.corpus, printedAs(row.system)),
  }));
  return {
    name: 'table2-systems',
    title: 'Table 2, its systems trained at equal size and steps',
    caption,
    ...filled(columns, lines),
  };
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
