import fs from 'node:fs';
import { setThreads } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { encodeTexts, encoderTokens } from '../packages/hsn/src/discovery/text-vectors.ts';
setThreads(1);
const opened = await openPretrainedEncoder();
for (const [, t] of opened.encoder.namedTensors()) t.requireGrad(false);
const files: Record<string, string> = {
  m10: 'topics/m10.tsv',
  bbc: 'topics/bbc_news.tsv',
  yahoo: 'yahoo_topics_small/hardlabel_1k.tsv',
  dbpedia: 'dbpedia14/all.tsv',
  yelp: 'yelp_10k_stars/all.tsv',
};
for (const precision of (process.argv[2] ?? 'float32').split(','))
  for (const [name, file] of Object.entries(files)) {
    opened.encoder.precision = precision as 'float32';
    const rows = fs
      .readFileSync(`/root/data/${file}`, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((l) => l.split('\t'));
    const step = Math.max(1, Math.floor(rows.length / 2400));
    const kept = rows.filter((_, i) => i % step === 0).slice(0, 2400);
    rows.length = 0;
    rows.push(...kept);
    const texts = rows.map((r) => r.slice(1).join(' '));
    if (precision === 'float32') {
      fs.writeFileSync(`/tmp/vec/${name}.labels`, rows.map((r) => r[0]).join('\n'));
      const tokens = await encoderTokens(texts, opened, { longest: 128 });
      fs.writeFileSync(`/tmp/vec/${name}.tokens.json`, JSON.stringify(tokens.map((t) => [...t])));
    }
    const began = process.cpuUsage();
    const v = await encodeTexts(texts, opened, { longest: 128 });
    fs.writeFileSync(`/tmp/vec/${name}.${precision}.f32`, Buffer.from((v.toArray() as Float32Array).buffer));
    console.log(precision, name, texts.length, 'cpu', process.cpuUsage(began).user / 1e6);
    v.free();
  }
