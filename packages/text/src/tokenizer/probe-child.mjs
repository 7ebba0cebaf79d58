// Opens a tokenizer.json and reads some texts with it, in a process that may break. Standard input: { definition, texts }.
import { readFileSync } from 'node:fs';
import { Tokenizer } from 'tokenizers';

// Whoever asked may be gone; nobody waits longer than this.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 90_000).unref();

const { definition, texts } = JSON.parse(readFileSync(0, 'utf8'));
/** An error is an answer like any other; only a process that breaks is not. */
const calmly = (body) =>
  Promise.resolve()
    .then(body)
    .catch(() => undefined);

let opened;
try {
  const literal = (definition.added_tokens ?? []).filter((token) => !token.special);
  opened = [definition, { ...definition, added_tokens: literal }].map((one) =>
    Tokenizer.fromString(JSON.stringify(one)),
  );
} catch (error) {
  process.stdout.write(String(error.message).split('\n')[0]);
  process.exit(3);
}
for (const tokenizer of opened) {
  const numbers = Object.values(tokenizer.getVocab(true)).slice(0, 50);
  await calmly(() => tokenizer.decode(numbers, false));
  for (const addSpecialTokens of [true, false])
    for (const text of texts) {
      const encoding = await calmly(() => tokenizer.encode(text, null, { addSpecialTokens }));
      if (!encoding) continue;
      encoding.getOffsets();
      await calmly(() => tokenizer.decode(encoding.getIds().slice(0, 500), true));
    }
  await calmly(() => tokenizer.encodeBatch(texts.slice(0, 10), { addSpecialTokens: true }));
}
