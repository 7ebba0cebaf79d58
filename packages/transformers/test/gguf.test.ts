import { Buffer } from 'node:buffer';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectClose, readFixture } from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { loadTokenizer } from '@hidden-schema/text';
import { Generator, noGrad, scope } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { blockFormat, dequantised } from '../src/gguf/formats.ts';
import { importGguf } from '../src/gguf/import.ts';
import { openDecoder } from '../src/index.ts';

interface Blocks {
  type: string;
  number: number;
  stored: string;
  numbers: string;
}

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/gguf/${name}`, import.meta.url));
const expected = readFixture<Record<string, { ids: number[]; logits: number[][] }>>('gguf/expected');
const scratch = mkdtempSync(join(tmpdir(), 'hsn-gguf-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let made = 0;
const folder = (): string => join(scratch, `model${made++}`);

test.each(readFixture<Blocks[]>('gguf/blocks'))('$type has the numbers of the gguf package', (given) => {
  const format = blockFormat(given.number, 'a tensor', (what) => {
    throw new Error(what);
  });
  expect(format.name).toBe(given.type);
  const numbers = dequantised(format, Buffer.from(given.stored, 'base64'));
  const wanted = Buffer.from(given.numbers, 'base64');
  expect(Buffer.from(numbers.buffer).equals(wanted)).toBe(true);
});

describe.each(['llama', 'gpt2'])('%s', (name) => {
  const out = folder();
  const told: number[] = [];
  const imported = importGguf(fixture(`${name}.gguf`), out, (done) => told.push(done));

  test('is a whole folder, and nothing is left beside it', () => {
    expect(readdirSync(out).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(readdirSync(scratch).filter((entry) => entry.includes('partial'))).toEqual([]);
    expect(imported.architecture).toBe(name);
    expect(told.at(-1)).toBe(told.length);
  });

  test('has the logits that transformers reads from the file', () => {
    const decoder = openDecoder(out, new Generator(0)).train(false);
    const { ids, logits } = expected[name]!;
    scope(() =>
      noGrad(() => expectClose(decoder.logits(decoder.hidden(walkTensor([ids]))).select(0, 0), logits, 2e-5)),
    );
    decoder.free();
  });
});

test('byte pairs and pieces become tokenizers', async () => {
  const [bytes, pieces] = ['gpt2', 'llama'].map((name) => {
    const out = folder();
    importGguf(fixture(`${name}.gguf`), out);
    return loadTokenizer(out);
  });
  const names = async (tokenizer: typeof bytes, text: string) => (await tokenizer!.encode(text)).tokens;
  expect(await names(bytes, 'the other 12')).toEqual(['the', 'Ġ', 'o', 'the', 'r', 'Ġ', '12']);
  // Pieces: a start token and a space first, the best score joined first, and bytes for what has no piece.
  expect(await names(pieces, 'the andé!')).toEqual(['<s>', '▁the', '▁and', 'é', '<0x21>']);
  for (const text of ['the  and 😀 é\n', ' a'])
    expect(await pieces!.decode((await pieces!.encode(text)).ids, { specials: false })).toBe(text);
  expect(bytes!.special.end).toBe(bytes!.idOf('<|endoftext|>'));
  expect(pieces!.special).toMatchObject({ begin: 1, end: 2, unknown: 0 });
});

describe('a file that is damaged is refused in one line', () => {
  const whole = readFileSync(fixture('llama.gguf'));
  const refused = (bytes: Uint8Array): string => {
    const file = join(scratch, `damaged${made++}.gguf`);
    const out = folder();
    writeFileSync(file, bytes);
    let message = '';
    try {
      importGguf(file, out);
    } catch (error) {
      message = (error as Error).message;
      expect((error as Error).name).toBe('UserError');
    }
    expect(existsSync(out)).toBe(false);
    expect(message).not.toContain('\n');
    return message;
  };
  const changed = (at: number, ...bytes: number[]): Buffer => {
    const copy = Buffer.from(whole);
    copy.set(bytes, at);
    return copy;
  };
  const after = (text: string, skip = 0): number => whole.indexOf(text) + Buffer.byteLength(text) + skip;

  test.each([
    ['cut behind its header', whole.subarray(0, whole.length - 40), 'it is cut'],
    ['cut in its header', whole.subarray(0, 300), 'more than the file has room for'],
    ['empty', Buffer.alloc(0), 'it has 0 bytes'],
    ['another kind', Buffer.alloc(100), 'does not start with GGUF'],
    ['version 1', changed(4, 1), 'expected version 2 or 3, got 1'],
    ['big-endian', changed(4, 0, 0, 0, 3), 'big-endian'],
    ['countless tensors', changed(8, 255, 255, 255, 255, 255), 'tensors'],
    ['a string without end', changed(24, 255, 255, 255, 255, 255, 255), 'metadata key 0 has'],
    ['an unknown type', changed(after('general.architecture'), 77), 'unknown type 77'],
    ['a list that is too long', changed(after('tokenizer.ggml.tokens', 8), 255, 255, 255), 'more than'],
    ['another architecture', changed(after('general.architecture', 12), 0x78), 'the architecture "xlama"'],
    ['a strange quantisation', changed(after('token_embd.weight', 20), 99), 'stored as type 99'],
    ['a shape beyond the file', changed(after('token_embd.weight', 14), 1), 'ends at byte'],
    ['a tensor on another', changed(after('output_norm.weight', 16), 0), 'inside the tensor before it'],
    ['a tensor of another name', changed(whole.indexOf('ffn_gate.weight'), 0x78), 'has no place here'],
    ['too many heads', changed(after('llama.attention.head_count', 4), 3), 'head'],
  ])('%s', (_, bytes, message) => {
    expect(refused(bytes)).toContain(message);
  });

  // Some changes are harmless (a score, a word): only faults that are no user's are looked for.
  test('whatever byte is wrong, nothing crashes', () => {
    const header = whole.indexOf('blk.1.ffn_down.weight');
    const file = join(scratch, 'byte.gguf');
    for (let at = 0; at < header; at += 211) {
      writeFileSync(file, changed(at, whole[at]! ^ 0xff));
      try {
        importGguf(file, folder());
      } catch (error) {
        expect((error as Error).name, `byte ${at}: ${(error as Error).message}`).toBe('UserError');
      }
    }
  });

  test('a folder that is there stays as it is', () => {
    expect(() => importGguf(fixture('llama.gguf'), scratch)).toThrow('is there already');
    expect(() => importGguf(join(scratch, 'none.gguf'), folder())).toThrow('expected a GGUF file');
  });
});
