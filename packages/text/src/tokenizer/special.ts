/** Numbers of the tokens that mean something to a model rather than to a reader. */
export interface SpecialTokens {
  pad?: number;
  unknown?: number;
  /** Stands before a text: [CLS], <s>, or GPT-2's end of text. */
  begin?: number;
  /** Stands after a text: [SEP], </s>, <|endoftext|>. */
  end?: number;
  mask?: number;
}

type Role = keyof SpecialTokens;

const usualNames: Record<Role, readonly string[]> = {
  pad: ['[PAD]', '<pad>', '<|pad|>'],
  unknown: ['[UNK]', '<unk>'],
  begin: ['[CLS]', '<s>', '<|begin_of_text|>', '<|startoftext|>', '<|endoftext|>'],
  end: ['[SEP]', '</s>', '<|end_of_text|>', '<|endoftext|>'],
  mask: ['[MASK]', '<mask>'],
};

/** Keys of tokenizer_config.json, the more telling first. */
const configKeys: Record<Role, readonly string[]> = {
  pad: ['pad_token'],
  unknown: ['unk_token'],
  begin: ['bos_token', 'cls_token'],
  end: ['eos_token', 'sep_token'],
  mask: ['mask_token'],
};

/** Special tokens by what tokenizer_config.json says, else by their usual names. */
export function specialTokens(
  idOf: (token: string) => number | undefined,
  config: Readonly<Record<string, unknown>> = {},
): SpecialTokens {
  const found: SpecialTokens = {};
  for (const role of Object.keys(usualNames) as Role[]) {
    const stated = configKeys[role].map((key) => contentOf(config[key])).filter((name) => name !== undefined);
    for (const name of [...stated, ...usualNames[role]]) {
      const id = idOf(name);
      if (id === undefined) continue;
      found[role] = id;
      break;
    }
  }
  return found;
}

function contentOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : undefined;
}

/** What tokenizer_config.json must say so that the same tokens are found again; nothing where usual names find them. */
export function specialConfig(
  special: SpecialTokens,
  names: { idOf(token: string): number | undefined; tokenOf(id: number): string | undefined },
): Record<string, string> | undefined {
  const usual = specialTokens((token) => names.idOf(token));
  const roles = (Object.keys(usualNames) as Role[]).filter((role) => special[role] !== undefined);
  if (roles.every((role) => special[role] === usual[role])) return undefined;
  return Object.fromEntries(roles.map((role) => [configKeys[role][0]!, names.tokenOf(special[role]!)!]));
}
