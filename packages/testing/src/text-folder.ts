import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import {
  type CorpusInput,
  type TextCorpus,
  type TextCorpusOptions,
  type Tokenizer,
  trainByteBpe,
} from '@hidden-schema/text';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { openTextCorpus } from './text-corpus.ts';

const open: TextCorpus[] = [];

/** A fresh folder for each test, with files, a cache and two small tokenizers. */
export class TextFolder {
  root = '';
  dir = '';
  #at = 0;
  readonly encoder: Tokenizer = trainByteBpe(['a small encoder of small words'], 300);
  readonly decoder: Tokenizer = trainByteBpe(['the decoder has the other words, the the the'], 320);

  constructor() {
    beforeAll(() => {
      this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-text-'));
    });
    afterAll(() => {
      for (const corpus of open) corpus.close();
      fs.rmSync(this.root, { recursive: true, force: true });
    });
    beforeEach(() => {
      this.dir = path.join(this.root, `test-${this.#at++}`);
      fs.mkdirSync(this.dir);
    });
  }

  get cache(): string {
    return path.join(this.dir, '.cache');
  }

  file(name: string): string {
    return path.join(this.dir, name);
  }

  write(files: Record<string, string | Uint8Array>): void {
    for (const [name, content] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(this.file(name)), { recursive: true });
      fs.writeFileSync(this.file(name), content);
    }
  }

  sides(longest = 64) {
    return {
      encoder: { tokenizer: this.encoder, longest },
      decoder: { tokenizer: this.decoder, longest },
    };
  }

  async open(input: CorpusInput, options: TextCorpusOptions = {}, longest?: number): Promise<TextCorpus> {
    const corpus = await openTextCorpus(input, this.sides(longest), { cache: this.cache, ...options });
    open.push(corpus);
    return corpus;
  }

  /** A corpus of one file with the given content. */
  async of(name: string, content: string | Uint8Array, options: TextCorpusOptions = {}): Promise<TextCorpus> {
    this.write({ [name]: content });
    return this.open(this.file(name), options);
  }

  /** The one-line message that a corpus is refused with; nothing half-written may be left. */
  async fault(name: string, content: string | Uint8Array, options: TextCorpusOptions = {}): Promise<string> {
    try {
      await this.of(name, content, options);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      const { message } = error as Error;
      expect(message).not.toContain('\n');
      this.expectNothingHalfWritten();
      return message.replaceAll(this.dir, 'DIR');
    }
    throw new Error('expected a fault');
  }

  expectNothingHalfWritten(): void {
    const tokens = path.join(this.cache, 'tokens');
    const partial = (name: string) => name.startsWith('.');
    if (fs.existsSync(tokens)) expect(fs.readdirSync(tokens).filter(partial)).toEqual([]);
    const input = path.join(this.cache, 'input');
    if (fs.existsSync(input)) expect(fs.readdirSync(input)).toEqual([]);
  }
}

/** Texts and labels of a corpus in the order of its rows. */
export function examples({ store }: TextCorpus): [string | undefined, string][] {
  return Array.from({ length: store.count }, (_, row) => {
    const { label, text } = store.example(row);
    return [label, text];
  });
}

export const texts = (corpus: TextCorpus): string[] => examples(corpus).map(([, text]) => text);
