import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, type UserError } from '@hidden-schema/base';
import { checkedDefinition, type Definition, fault, isKnownPattern, partsOf, regexOf } from './definition.ts';

const CHILD = fileURLToPath(new URL('./probe-child.mjs', import.meta.url));
/** Another check or another version of the native library makes every tokenizer unknown again. */
const VERSION = '1';
const DEADLINE = 60_000;

const refused = new Map<string, UserError>();

/**
 * Throws unless a tokenizer.json can be handed to the native library, which aborts the process on many a fault. One
 * that is not known yet is checked piece by piece, then opened and tried in a process of its own under a deadline;
 * once that went well, a stamp in the cache folder says so, and it costs nothing any more.
 */
export function requireSafe(json: string, name: string): void {
  const hash = createHash('sha256').update(json).digest('hex');
  const stamp = path.join(cacheFolder(), 'tokenizers', `${hash}-${VERSION}`);
  if (fs.existsSync(stamp)) return;
  const before = refused.get(hash);
  if (before) throw before;
  try {
    tryApart(checkedDefinition(json, name), name);
  } catch (error) {
    refused.set(hash, error as UserError);
    throw error;
  }
  try {
    fs.mkdirSync(path.dirname(stamp), { recursive: true });
    fs.writeFileSync(stamp, '');
  } catch {
    // Where nothing can be kept, it is tried again the next time.
  }
}

function tryApart(definition: Definition, name: string): void {
  const result = spawnSync(process.execPath, [CHILD], {
    input: JSON.stringify({
      definition: { ...definition, padding: null, truncation: null },
      texts: [...plainTexts, ...patternTexts(definition)],
    }),
    env: { ...process.env, RUST_BACKTRACE: '0', NODE_OPTIONS: '' },
    timeout: DEADLINE,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
    encoding: 'utf8',
  });
  if (result.status === 0) return;
  const { code } = (result.error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ETIMEDOUT') throw fault(name, `trying it took more than ${DEADLINE / 1000} s`);
  if (result.error && result.status === null && !result.signal)
    throw fault(name, `it could not be tried: ${result.error.message}`);
  if (result.status === 3) throw fault(name, result.stdout);
  throw fault(
    name,
    `trying it broke its process (${panicOf(result.stderr) ?? result.signal ?? result.status})`,
  );
}

/** What a native library said before it aborted. */
export function panicOf(stderr: string): string | undefined {
  return /panicked at [^\n]*\n([^\n]+)/.exec(stderr)?.[1]?.slice(0, 200);
}

const LONG = 6000;
const plainTexts: readonly string[] = [
  ...[
    '',
    'a',
    ' ',
    '  \n\t ',
    'The food was great, and cheap: 12.50!',
    "it's we'll I'd",
    '[CLS] <s> </s> [UNK]',
  ],
  ...[
    'é ẞ ﬁ Å ㎏ ½ ｱ',
    '中文 混合 text',
    '😀👩‍👩‍👧 e\u0301\u0327',
    '\u0000\u0001\u007f\u200b\u202e\ufeff\ufffd',
    '\u{10ffff}',
  ],
  ...['a', ' ', '1', 'é', '中', '\n', '!'].map((letter) => letter.repeat(LONG)),
  'ab '.repeat(LONG / 3),
];

/** Long runs of the letters that a pattern speaks of, with an end that does not fit: what slow patterns choke on. */
function* patternTexts({ normalizer, pre_tokenizer: before, decoder }: Definition): Generator<string> {
  const patterns = [normalizer, before, decoder].flatMap(partsOf).flatMap((one) => regexOf(one) ?? []);
  for (const pattern of patterns.filter((one) => !isKnownPattern(one))) {
    const letters = [...new Set([...pattern.replaceAll(/\\[pP]\{[^}]*\}|\\./g, ''), ...'aA1 '])].slice(0, 12);
    // A letter that the pattern must end with is there, but not where it would fit.
    const ends = ['', '!', `\u0001${letters.toReversed().join('')}`];
    for (const letter of letters) for (const end of ends) yield letter.repeat(LONG) + end;
    yield letters.join('').repeat(Math.ceil(LONG / letters.length));
  }
}
