import { sum } from '@hidden-schema/testing/closeness';
import { TextFolder } from '@hidden-schema/testing/text-folder';
import { evidence, fixGraph, type LanguageInput, tinyTrained } from '@hidden-schema/testing/tiny-language';
import type { TextBatch, TextCorpus } from '@hidden-schema/text';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import type { WalkEncoder } from '../src/encoder/walk-queries.ts';
import { framesOf } from '../src/tasks/language/build.ts';
import { baselinePerplexity, evaluateLanguage } from '../src/tasks/language/evaluation.ts';
import type { LanguageNetwork } from '../src/tasks/language/network.ts';
import { schemaOf } from '../src/tasks/language/network.ts';

const K = 4;
/** Evaluation has to turn both off. */
const dropping = { dropout: 0.5, wordDropout: 0.5 };

describe('a model on a corpus', () => {
  const folder = new TextFolder();
  const text = ['the words', 'other words are the words', 'a decoder', 'has', 'the other', 'decoder the'];
  const opened = () => folder.of('a.txt', `${text.join('\n')}\n`, { split: [1, 1, 2], seed: 3 });
  const frames = () => framesOf({ encoder: folder.encoder, decoder: folder.decoder });

  /** Test sentences as the decoder reads them, start and end included. */
  function framed(corpus: TextCorpus): Int32Array[] {
    const { begin, end } = frames().decoder;
    return Array.from(corpus.splits.test, (row) =>
      Int32Array.from([begin!, ...corpus.store.ids('decoder', corpus.store.row(row)), end!]),
    );
  }

  test('has the perplexity of all its walks', async () => {
    const corpus = await opened();
    const model = tinyTrained({ length: 2, graph: { posterior: 'free' }, decoder: dropping }, 320);
    const adjacency = fixGraph(model, ['0 0', '0 1', '1 2', '2 3', '1 3']).keep();
    // Scores that hardly differ: a sure posterior that is wrong would take far more draws.
    noGrad(() => {
      for (const [, tensor] of (model.encoder as WalkEncoder).walk.namedParameters()) tensor.mul_(0.1);
    });
    const sentences = framed(corpus);
    expect(sentences.length).toBeGreaterThan(1);
    const log = sentences.map((ids) => Math.log(evidence(model, ids, adjacency)));
    const count = sum(sentences.map((ids) => ids.length - 1));
    const seen: number[] = [];
    const out = evaluateLanguage(model.train(), corpus, frames(), {
      walks: 1000,
      graphs: 1,
      onProgress: (done) => seen.push(done),
    });
    const wanted = Math.exp(-sum(log) / count);
    expect(out.perplexity / wanted).toBeGreaterThan(0.99);
    expect(out.perplexity / wanted).toBeLessThan(1.01);
    expect(seen).toEqual(Array.from(sentences, (_, n) => n + 1));
    expect(out.sentences).toBe(sentences.length);
    expect(out.mutual_information_bound).toBeCloseTo(Math.log(sentences.length), 12);
    expect(out.mutual_information_exact).toBeLessThanOrEqual(out.mutual_information_bound + 1e-5);
    expect(out.kl_walk - out.kl_walk_aggregated).toBeCloseTo(out.mutual_information, 4);
    expect(out.symbols_used).toBeLessThanOrEqual(K);
    const { steps, ...figures } = out;
    expect(sum(steps.map(({ paid }) => paid))).toBeCloseTo(out.kl_walk, 5);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toSatisfy(Number.isFinite);
    expect(evaluateLanguage(model, corpus, frames(), { walks: 2, graphs: 1, limit: 1 }).sentences).toBe(1);
    model.free();
  });

  test('tells the information of more sentences than perplexity is over, and reads what is known of them', async () => {
    const corpus = await opened();
    const model = tinyTrained({ length: 2, graph: { posterior: 'free' } }, 320);
    fixGraph(model, ['0 0', '0 1', '1 2', '2 3', '1 3']);
    const sizes = { walks: 2, graphs: 1 };
    const all = corpus.splits.test.length;
    const whole = evaluateLanguage(model, corpus, frames(), sizes);
    const one = evaluateLanguage(model, corpus, frames(), { ...sizes, limit: 1 });
    expect(one.information_sentences).toBe(1);
    expect(one.mutual_information_exact).toBeCloseTo(0, 5);
    const rows: number[] = [];
    const read = (batch: TextBatch) => {
      rows.push(...batch.rows);
      return batch;
    };
    const both = evaluateLanguage(model, corpus, frames(), {
      ...sizes,
      limit: 1,
      informationLimit: 1000,
      read,
    });
    expect([both.sentences, both.information_sentences]).toEqual([1, all]);
    expect(rows.sort()).toEqual([...corpus.splits.test].sort());
    expect(both.perplexity).toBe(one.perplexity);
    expect(both.mutual_information_bound).toBe(whole.mutual_information_bound);
    expect(both.kl_walk).toBeCloseTo(whole.kl_walk, 5);
    model.free();
  });

  test('the baseline has no symbols, and the perplexity of its decoder', async () => {
    const corpus = await opened();
    const model = tinyTrained({ baseline: true, decoder: dropping }, 320);
    const names = [...model.decoder.namedTensors()].map(([name]) => name);
    expect(names.filter((name) => /psa|symbol|schema/.test(name))).toEqual([]);
    const ids = Tensor.fromArray(Int32Array.of(1, 3, 2), [1, 3]);
    expect(() => model.decoder.nll(ids, schemaOf(model, [[0, 1, 2]]), [3])).toThrow(
      'this decoder was made without symbols',
    );
    const sentences = framed(corpus);
    const losses = sentences.map((sentence) => scope(() => noGrad(() => lossByHand(model, sentence))));
    const count = sum(sentences.map((sentence) => sentence.length - 1));
    const wanted = Math.exp(sum(losses) / count);
    expect(baselinePerplexity(model.train(), corpus, frames()) / wanted).toBeCloseTo(1, 5);
    model.free();
  });

  /** −Σ log softmax of the next token, one sentence without padding. */
  function lossByHand(model: LanguageNetwork, sentence: Int32Array): number {
    const ids = Tensor.fromArray(sentence, [1, sentence.length]);
    const logits = model.decoder.logits(model.decoder.hidden(ids)).select(0, 0);
    return sum(
      logits
        .unbind(0)
        .slice(0, -1)
        .map((row, t) => {
          const values = row.toNumbers();
          const most = Math.max(...values);
          const total = most + Math.log(sum(values.map((value) => Math.exp(value - most))));
          return total - values[sentence[t + 1]!]!;
        }),
    );
  }

  test('the decoder with symbols differs from the baseline by them alone', () => {
    const names = (settings: LanguageInput) => {
      const model = tinyTrained(settings);
      const all = [...model.decoder.namedTensors()].map(([name, tensor]) => `${name} ${tensor.shape}`);
      model.free();
      return all;
    };
    const plain = names({ baseline: true });
    const added = names({}).filter((name) => !plain.includes(name));
    expect(added).toEqual(['k', 'v'].map((side) => `transformer.h.0.attn.psa.${side}.weight ${K},8`));
  });
});
