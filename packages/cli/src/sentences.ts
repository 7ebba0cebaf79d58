import type { TextSettings } from '@hidden-schema/hsn';

/** Sentences of a file, or of standard input as they come, in batches; blank lines are passed over. */
export async function* sentencesOf(
  file: string | undefined,
  settings: Partial<TextSettings>,
): AsyncGenerator<string[]> {
  const plain = settings.format === undefined || settings.format === 'text';
  if ((file === undefined || file === '-') && plain) {
    yield* linesOf(process.stdin, settings.onBadUtf8 ?? 'error');
    return;
  }
  const { TextFiles } = await import('@hidden-schema/hsn');
  const files = await TextFiles.find(file ?? '-', settings);
  try {
    yield* files.texts();
  } finally {
    files.close();
  }
}

/** Lines as soon as they are whole, so that a pipe that stays open gets its answers. */
async function* linesOf(
  input: NodeJS.ReadableStream,
  onBadUtf8: TextSettings['onBadUtf8'],
): AsyncGenerator<string[]> {
  const { UserError } = await import('@hidden-schema/hsn');
  let rest = Buffer.alloc(0);
  let number = 0;
  const text = (line: Buffer): string => {
    number++;
    try {
      return new TextDecoder('utf-8', { fatal: onBadUtf8 !== 'replace' }).decode(line).trim();
    } catch {
      if (onBadUtf8 === 'skip') return '';
      throw new UserError(
        `line ${number} of standard input is not UTF-8; --on-bad-utf8 replace or skip goes on with the rest`,
      );
    }
  };
  for await (const chunk of input) {
    const all = Buffer.concat([rest, Buffer.from(chunk)]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10, start)) {
      lines.push(all.subarray(start, end));
      start = end + 1;
    }
    rest = all.subarray(start);
    const texts = lines.map(text).filter(Boolean);
    if (texts.length > 0) yield texts;
  }
  const last = text(rest);
  if (last) yield [last];
}
