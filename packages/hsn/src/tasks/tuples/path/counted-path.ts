import { scope, Tensor } from '@hidden-schema/torch';
import type { TupleTokens } from '../tokens.ts';
import { eventVectors, type NearEvents, type TrainedWalks } from '../trained-walks.ts';
import type { TupleWalks } from '../walks.ts';
import { ContextCounts, type StepContext, smoothed } from './context-counts.ts';
import type { BegunWalks, FirstHalves, WalkPath } from './walk-path.ts';

/** How near events speak for what follows; chosen on valid events of ATOMIC by log p of their walks. */
export interface Speaking {
  /** Nearest training events whose second halves count for a new one. */
  neighbours: number;
  /** A neighbour counts exp(−(c_1 − c) / `width`): by how much less near it is than the nearest. */
  width: number;
  /** Pseudo-counts with which the counts of all events enter those of the nearest. */
  doubt: number;
}
const defaultSpeaking: Speaking = { neighbours: 400, width: 0.1, doubt: 10 };
/** Nearest events among which those with the relation are looked for. */
const lookedAt = 1000;

/** A training tuple that speaks for what follows, and how much. */
interface Voice {
  second: Int32Array;
  weight: number;
}

/**
 * A path model without a network: how often symbols follow in training walks, given relation, first symbols and the
 * steps so far, backed off to the links of the graph; then the second halves of the nearest training events with the
 * same relation, backed off to these counts.
 */
export class CountedPath implements WalkPath {
  readonly trained: TrainedWalks;
  readonly #walks: TupleWalks;
  readonly #relations: readonly string[];
  readonly #counts: ContextCounts;
  /** Training tuples of an event and relation. */
  readonly #tuples = new Map<number, number[]>();
  readonly #open: readonly (readonly number[])[];
  readonly #near = new Map<string, NearEvents>();
  /** Numbers of the training events. */
  readonly #known: ReadonlyMap<string, number>;
  readonly #speaking: Speaking;

  constructor(
    trained: TrainedWalks,
    walks: TupleWalks,
    relations: readonly string[],
    speaking: Speaking = defaultSpeaking,
  ) {
    this.#speaking = speaking;
    this.trained = trained;
    this.#walks = walks;
    this.#relations = relations;
    const { symbols } = walks.model.config;
    this.#counts = new ContextCounts(symbols);
    for (let tuple = 0; tuple < trained.count; tuple++) {
      const relation = trained.relation[tuple]!;
      this.#counts.add(relation, trained.walk(tuple));
      const key = trained.event[tuple]! * relations.length + relation;
      const known = this.#tuples.get(key);
      if (known) known.push(tuple);
      else this.#tuples.set(key, [tuple]);
    }
    this.#open = openSteps(walks.adjacency.toNumbers(), symbols);
    this.#known = new Map(trained.events.map((name, event) => [name, event]));
  }

  begin({ rows, first, tokens = this.#walks.tokens }: FirstHalves): BegunWalks {
    const { table } = tokens;
    const near = this.nearest(rows, tokens);
    const begun = Array.from(rows, (row, i) => {
      const relation = this.#relations.indexOf(table.relations[table.relation[row]!]!);
      return { relation, first: first[i]!, voices: this.#voices(near[i]!, relation) };
    });
    const symbols = this.#open.length;
    const known = new Map<string, Float32Array>();
    const next = (of: number, second: readonly number[]): Float32Array => {
      const key = `${of};${second.join()}`;
      const { voices, ...context } = begun[of]!;
      const logs =
        known.get(key) ??
        Float32Array.from(this.#probabilities({ ...context, second }, voices), (p) =>
          Math.log(Math.max(p, 1e-30)),
        );
      known.set(key, logs);
      return logs;
    };
    return {
      next: (owners, seconds) => {
        const logs = new Float32Array(owners.length * symbols);
        for (const [m, of] of owners.entries()) logs.set(next(of, seconds[m]!), m * symbols);
        return Tensor.fromArray(logs, [owners.length, symbols]);
      },
    };
  }

  /** The nearest training events of rows; one that was trained on itself is left out of its own. */
  nearest(rows: Int32Array, tokens: TupleTokens): NearEvents[] {
    const { table } = tokens;
    const names = Array.from(rows, (row) => table.heads[table.head[row]!]!);
    const fresh = [...new Set(names)].filter((name) => !this.#near.has(name));
    const trained = fresh.filter((name) => this.#known.has(name));
    const strange = fresh.filter((name) => !this.#known.has(name));
    if (trained.length > 0) {
      const events = trained.map((name) => this.#known.get(name)!);
      const found = scope(() => this.trained.nearest(this.trained.vectorsOf(events), lookedAt));
      for (const [i, name] of trained.entries()) this.#near.set(name, without(found[i]!, events[i]!));
    }
    if (strange.length > 0) {
      const some = Int32Array.from(strange, (name) => rows[names.indexOf(name)]!);
      const vectors = eventVectors(this.#walks, tokens, some);
      const found = this.trained.nearest(vectors, lookedAt);
      vectors.free();
      for (const [i, name] of strange.entries()) this.#near.set(name, found[i]!);
    }
    return names.map((name) => this.#near.get(name)!);
  }

  #voices({ events, cosines }: NearEvents, relation: number): Voice[] {
    const { trained } = this;
    const { neighbours, width } = this.#speaking;
    const out: Voice[] = [];
    let [heard, best] = [0, 0];
    for (let i = 0; i < events.length && heard < neighbours; i++) {
      const tuples = this.#tuples.get(events[i]! * this.#relations.length + relation);
      if (!tuples) continue;
      if (heard++ === 0) best = cosines[i]!;
      const weight = Math.exp((cosines[i]! - best) / width);
      for (const tuple of tuples)
        out.push({ second: trained.walk(tuple).subarray(trained.length / 2), weight });
    }
    return out;
  }

  #probabilities(context: StepContext, voices: readonly Voice[]): Float64Array {
    const { first, second } = context;
    const before = second.at(-1) ?? first.at(-1)!;
    const p = this.#counts.probabilities(context, this.#open[before]!);
    const step = second.length;
    const last = new Map<number, number>();
    const whole = new Map<number, number>();
    for (const { second: own, weight } of voices) {
      if (step > 0 && own[step - 1] !== before) continue;
      const next = own[step]!;
      last.set(next, (last.get(next) ?? 0) + weight);
      if (second.every((symbol, i) => own[i] === symbol)) whole.set(next, (whole.get(next) ?? 0) + weight);
    }
    const { doubt } = this.#speaking;
    const near = smoothed(p, last, doubt);
    // Up to the second step the symbol before is all that there is to agree with.
    return step < 2 ? near : smoothed(near, whole, doubt);
  }

  /** Nothing of it is trained step by step. */
  train(): this {
    return this;
  }

  free(): void {
    this.trained.free();
  }
}

/** All but one event. */
function without({ events, cosines }: NearEvents, event: number): NearEvents {
  return {
    events: events.filter((other) => other !== event),
    cosines: cosines.filter((_, i) => events[i] !== event),
  };
}

/** The symbols that each has a link to; from an isolated one a walk goes anywhere. */
function openSteps(adjacency: readonly number[], symbols: number): number[][] {
  const all = Array.from({ length: symbols }, (_, k) => k);
  return all.map((j) => {
    const open = all.filter((k) => adjacency[j * symbols + k]! > 0);
    return open.length > 0 ? open : all;
  });
}
