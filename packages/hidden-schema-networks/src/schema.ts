import { UserError } from '@hidden-schema/base';
import {
  evaluateSynthetic,
  languageFigures,
  linkProbabilities,
  nameCorpus,
  type OpenedRun,
  openLanguageCorpus,
  open as openRun,
  type WritingOptions,
} from '@hidden-schema/hsn';
import {
  type EncodedText,
  type EncodingOptions,
  encodedCorpus,
  type InterpolationOptions,
  type InterpolationStep,
  knownMeanings,
  mergeSymbols,
  type RunTable,
  type RunUpdate,
  renameSymbol,
  runTable,
  type SymbolEdit,
  type SymbolMeaning,
  splitSymbol,
  storedMeanings,
  TABLE_FORMATS,
  type TableFormat,
  textColumn,
  undoEdit,
  updateRun,
  writeTable,
} from '@hidden-schema/studies';
import { analyses } from '@hidden-schema/studies/analyses';
import { Analysed } from './analysis-methods.ts';
import { inOptions } from './option-names.ts';
import { checkSymbol, SchemaGraph } from './schema-graph.ts';
import type { EvaluateOptions, ExportOptions, Figures, OpenOptions } from './schema-options.ts';

/**
 * A trained model, open to read, write and look at. Free it when it is no longer needed: its weights lie outside of
 * what JavaScript counts.
 *
 * @example
 * using schema = await open('run');
 * const [first] = await schema.encode(['The Treasury has a surplus.']);
 * const [text] = await schema.generate(first!.walk, { temperature: 0.8, seed: 1 });
 */
export class Schema extends Analysed implements Disposable {
  /** The run's folder. */
  readonly directory: string;
  /** What it was trained on: a synthetic language, texts (`language`) or tuples (`reasoning`). */
  readonly kind: OpenedRun['kind'];
  /** L, steps of a walk. */
  readonly length: number;
  /** The training step of its weights. */
  readonly step: number;
  /** What the user should know, such as a checkpoint that was damaged. */
  readonly notes: readonly string[];
  #opened: OpenedRun | undefined;
  #meanings: SymbolMeaning[] | undefined;
  #graph: SchemaGraph;

  /** By `open`. */
  constructor(opened: OpenedRun) {
    super(() => this.#open());
    const { run, kind, model, step, notes } = opened;
    const { symbols, length } = model.shape;
    this.directory = run.directory;
    this.kind = kind;
    this.length = length;
    this.step = step;
    this.notes = notes;
    this.#graph = new SchemaGraph(linkProbabilities(model), symbols);
    this.#opened = opened;
    this.#meanings = knownMeanings(opened);
  }

  /** K; another one after symbols were merged or split. */
  get symbols(): number {
    return this.#graph.symbols;
  }

  /** The links between symbols, as they are now. */
  get graph(): SchemaGraph {
    return this.#graph;
  }

  /** Reads texts into walks; the same text always has the same, and one without words an empty one. */
  async encode(texts: readonly string[]): Promise<EncodedText[]> {
    if (typeof texts === 'string')
      throw new UserError('encode takes a list of texts, got one: put it into [ ]');
    return this.ask(await analyses.encode(), { texts: [...texts] });
  }

  /**
   * Writes texts about a walk: one, drawn at temperature 0.7 from the likeliest 90 %, unless options say otherwise;
   * temperature 0 takes the most probable token each time.
   *
   * @example
   * const five = await schema.generate([3, 17, 8, 2, 21], { count: 5, temperature: 0.8, seed: 1 });
   */
  async generate(walk: readonly number[], options: WritingOptions = {}): Promise<string[]> {
    const { texts } = await this.ask(await analyses.generate(), { ...options, walk: [...walk] });
    return texts;
  }

  /**
   * The way from one text to another over the graph, each step of it written out.
   *
   * @example
   * for (const { walk, text } of await schema.interpolate('The debt is reduced.', 'Our troops are at war.'))
   *   console.log(walk, text);
   */
  async interpolate(
    first: string,
    second: string,
    { write: { count: _, ...write } = {}, ...options }: InterpolationOptions = {},
  ): Promise<InterpolationStep[]> {
    const asked = { from: first, to: second, ...options, ...write };
    const { steps, unreachable } = await this.ask(await analyses.interpolate(), asked);
    if (unreachable !== null) throw new UserError(unreachable);
    return steps;
  }

  /** The figures on the test split: perplexity, information, divergences; of a synthetic language how well it was found. */
  async evaluate(options: EvaluateOptions = {}): Promise<Figures> {
    const { corpus: other, signal, ...counts } = options;
    const opened = this.#open();
    if (opened.kind === 'reasoning')
      throw new UserError(
        `${this.directory} is of tuples; evaluate it with: hsn reason eval ${this.directory}`,
      );
    if (opened.kind === 'synthetic') {
      if (other) throw new UserError('another corpus is for a model of texts; leave corpus out');
      return evaluateSynthetic(opened.model, opened.corpus, counts);
    }
    const named = other ? { corpus: other } : {};
    const corpus = await openLanguageCorpus(opened, { ...named, ...(signal ? { signal } : {}) });
    try {
      return languageFigures(opened.model, corpus, opened.texts.frames, counts);
    } finally {
      corpus.close();
    }
  }

  /**
   * Works out what the symbols mean from the corpus, and stores it in the run; quick where that was done before.
   * `train` does this at its end.
   */
  async describe(options: EncodingOptions = {}): Promise<readonly SymbolMeaning[]> {
    this.#meanings = await this.ask(await analyses.symbols(), options);
    return this.#meanings;
  }

  /**
   * What a symbol means: its words, texts, labels and neighbours.
   *
   * @example
   * console.log(schema.symbol(17).words.map(({ word }) => word).join(' '));
   */
  symbol(symbol: number): SymbolMeaning {
    this.#open();
    checkSymbol(symbol, this.symbols);
    if (!this.#meanings)
      throw new UserError(
        `what the symbols of ${this.directory} mean is not known yet: await schema.describe() works it out once`,
      );
    return this.#meanings[symbol]!;
  }

  /** Writes a table of the run (a row a text, symbol, link, word, example or vector) as CSV, JSONL or Parquet; returns its rows. */
  async exportTable(table: RunTable, file: string, options: ExportOptions = {}): Promise<number> {
    const { format = formatOf(file), unsure, columns: names = [], ...reading } = options;
    const run = this.#open();
    return inOptions(async () => {
      using encoded = await encodedCorpus(run, reading);
      const meanings = await storedMeanings(run, { encoded });
      const columns: Record<string, (string | null)[]> = {};
      for (const name of names) columns[name] = await textColumn(run, encoded, name);
      return writeTable(file, format, await runTable(table, { run, encoded, meanings, columns, unsure }));
    });
  }

  /** Names a symbol in the run, for every view of it; an empty name takes it away. */
  rename(symbol: number, name: string): void {
    checkSymbol(symbol, this.symbols);
    renameSymbol(this.directory, symbol, name, this.#seen());
    if (this.#meanings) this.#meanings = knownMeanings(this.#open());
  }

  /** Makes one symbol of several, in the run: it has their lowest number. `undo` takes it back. */
  merge(...symbols: number[]): Promise<SymbolEdit> {
    return this.#edited(() => mergeSymbols(this.directory, symbols, this.#seen()));
  }

  /** Makes two symbols of one, in the run: the smaller half is new, after the last. `undo` takes it back. */
  split(symbol: number): Promise<SymbolEdit> {
    return this.#edited(() => splitSymbol(this.directory, symbol, this.#seen()));
  }

  /**
   * Adds a file of texts to the run, with the columns of those before: symbols keep their numbers and names, and a theme
   * that is new gets a symbol after the last. `undo` takes it back.
   */
  update(file: string): Promise<RunUpdate> {
    return this.#edited(() => updateRun(this.directory, file));
  }

  /** Takes the last merge, split, update or naming of the run back; returns what that was. */
  async undo(): Promise<string> {
    const { undone } = await this.#edited(() => undoEdit(this.directory));
    return undone;
  }

  /** The run whose symbols' numbers callers know: one that another process edited since refuses them. */
  #seen(): { identity: string } {
    return { identity: this.#open().run.identity };
  }

  /** Edits the run on disk, and opens it again as it is then. */
  async #edited<T>(edit: () => Promise<T>): Promise<T> {
    const { model } = this.#open();
    const result = await edit();
    const now = await openRun(this.directory, { checkpoint: String(this.step) });
    model.free();
    this.#opened = now;
    this.#graph = new SchemaGraph(linkProbabilities(now.model), now.symbols);
    this.#meanings = knownMeanings(now);
    return result;
  }

  /** Frees the weights; the schema cannot be used any more. `using` does this at the end of a block. */
  free(): void {
    this.#opened?.model.free();
    this.#opened = undefined;
  }

  /** What `using` calls at the end of a block: frees the weights. */
  [Symbol.dispose](): void {
    this.free();
  }

  #open(): OpenedRun {
    if (!this.#opened) throw new UserError(`the schema of ${this.directory} was freed; open it again`);
    return this.#opened;
  }
}

function formatOf(file: string): TableFormat {
  const found = TABLE_FORMATS.find((format) => file.toLowerCase().endsWith(`.${format}`));
  if (found) return found;
  throw new UserError(
    `a table goes to a file ending in .${TABLE_FORMATS.join(', .')}, or name its format; got ${file}`,
  );
}

/**
 * Opens a run of any kind.
 *
 * @example
 * using schema = await open('run', { checkpoint: 'last' });
 */
export async function open(directory: string, options: OpenOptions = {}): Promise<Schema> {
  const { checkpoint = 'best', corpus } = options;
  if (corpus !== undefined) await nameCorpus(directory, [corpus].flat());
  return new Schema(await openRun(directory, { checkpoint: String(checkpoint) }));
}
