/** Definitions of tokenizers that break the native library, or were made to. */

const base = (more: object = {}) => ({
  ...{ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null },
  ...{ pre_tokenizer: { type: 'Whitespace' }, post_processor: null, decoder: null },
  model: { type: 'WordLevel', vocab: { a: 0, b: 1, '[UNK]': 2 }, unk_token: '[UNK]' },
  ...more,
});
const split = (Regex: string) => ({
  pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false },
});
const template = (special: string, sequence = 'A', tokens: object = {}) => ({
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: special, type_id: 0 } }, { Sequence: { id: sequence, type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: tokens,
  },
});
const charsmap = (bytes: Buffer) => ({
  normalizer: { type: 'Precompiled', precompiled_charsmap: bytes.toString('base64') },
});
/** A trie of one block whose root leads to `base`, followed by texts. */
export function trie(units: Readonly<Record<number, number>>, texts: string): Buffer {
  const all = Buffer.alloc(4 + 4 * 256);
  all.writeUInt32LE(4 * 256, 0);
  for (const [at, unit] of Object.entries(units)) all.writeUInt32LE(unit >>> 0, 4 * (Number(at) + 1));
  return Buffer.concat([all, Buffer.from(texts)]);
}
const wild = trie({ 0: 0xfffffc00 }, 'x\0');
const doubling = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };

/** The definition, and what is said of it. */
export const hostile: Readonly<Record<string, [definition: object, reason: RegExp]>> = {
  'a template token that is missing': [
    base(template('[CLS]')),
    /TemplateProcessing in post_processor: the template names "\[CLS\]", which is not among its tokens$/,
  ],
  'a template token without a number': [
    base(template('[CLS]', 'A', { '[CLS]': { id: '[CLS]', ids: [99], tokens: ['[CLS]'] } })),
    /"\[CLS\]" has the number 99, which no token has$/,
  ],
  'a template of one text that names two': [
    base(template('b', 'B', { b: { id: 'b', ids: [1], tokens: ['b'] } })),
    /the template of one text names a second$/,
  ],
  'a junk charsmap': [
    base(charsmap(Buffer.from('junk'.repeat(20)))),
    /Precompiled in normalizer: expected a trie/,
  ],
  'a charsmap that is no base64': [
    base({ normalizer: { type: 'Precompiled', precompiled_charsmap: '!' } }),
    /expected base64$/,
  ],
  'a charsmap that leads out': [base(charsmap(wild)), /a node leads to \d+, beyond 256 units$/],
  'a charsmap with texts cut amid a letter': [
    base(charsmap(Buffer.concat([trie({}, ''), Buffer.from([0xc3])]))),
    /expected texts of valid UTF-8$/,
  ],
  'a catastrophic pattern': [
    base(split('(a+)+$')),
    /Split in pre_tokenizer: it repeats a group that itself repeats/,
  ],
  'a catastrophic pattern in disguise': [
    base(split('(?:a|[^b](?:c{2,}))*?$')),
    /repeats a group that itself repeats/,
  ],
  'a pattern that refers back': [base(split('(a*)\\1b')), /it refers back to groups/],
  'a slow pattern of plain shape': [
    base(split('a*a*a*a*!')),
    /trying it broke its process \(Onig: Regex search error: retry-limit-in-match over\)$/,
  ],
  'a pattern that is none': [base(split('(')), /tokenizers: .*(regex|end pattern)/i],
  'texts that double forty times': [
    base({ normalizer: { type: 'Sequence', normalizers: Array(40).fill(doubling) } }),
    /normalizer makes texts more than 100 times longer$/,
  ],
  'a merge of tokens that are missing': [
    base({ model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: ['a b'] } }),
    /the merge "a b" is not of tokens that make a token$/,
  ],
  'pieces of length 0': [
    base({ pre_tokenizer: { type: 'FixedLength', length: 0 } }),
    /expected a length from 1$/,
  ],
  'a part of unknown type': [base({ decoder: { type: 'Shell' } }), /decoder has the unknown type Shell$/],
  'numbers beyond all memory': [
    base({ model: { type: 'WordLevel', vocab: { a: 4_294_967_295 }, unk_token: 'a' } }),
    /model\.vocab\.a: /,
  ],
  'sequences without end': [nested(500), /levels, got more$|has more than 64 parts$/],
};

function nested(depth: number): object {
  let inner: object = { type: 'Whitespace' };
  for (let at = 0; at < depth; at++) inner = { type: 'Sequence', pretokenizers: [inner] };
  return base({ pre_tokenizer: inner });
}

export const harmless = base();
