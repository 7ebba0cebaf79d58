import assert from 'node:assert/strict';
import fs from 'node:fs';
import { openSafetensors, openWeights } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { fuzz } from '../packages/torch/test/fuzz.ts';
import { type Fault, refusal, type Tally } from './tally.ts';

/** Most that memory may grow by, in MB: garbage between collections, far from what a header that is believed costs. */
const memoryLimitMB = 300;

/** Row 11: generated weight files, all kinds of them hostile. */
async function hostile(tally: Tally): Promise<void> {
  const summary = fuzz(tally.count(1_000_000, 1000), 1, (line) => process.stderr.write(`row 11: ${line}\n`));
  tally.injected += summary.inputs;
  tally.survived += summary.inputs - summary.crashes;
  tally.notes.push(
    `${summary.accepted} accepted, ${summary.rejected} refused by ${summary.rules.length} rules, memory grew by ${summary.peakMemoryGrowthMB} MB at most`,
  );
  await tally.expect('memory stays bounded', () =>
    assert.ok(summary.peakMemoryGrowthMB < memoryLimitMB, `it grew by ${summary.peakMemoryGrowthMB} MB`),
  );
}

/** Row 12: pickles by name and by content, with code in them that would leave a mark if it ran. */
async function pickles(tally: Tally): Promise<void> {
  const mark = tally.path('it-ran');
  const code = Buffer.from(`cos\nsystem\n(S'touch ${mark}'\ntR.`);
  const contents: Record<string, Buffer> = {
    'protocol 0': code,
    'protocol 2': Buffer.concat([Buffer.from([0x80, 2]), code]),
    'protocol 4': Buffer.concat([Buffer.from([0x80, 4, 0x95, 9, 0, 0, 0, 0, 0, 0, 0]), code]),
    zip: Buffer.concat([Buffer.from('PK\x03\x04'), code]),
  };
  for (const name of ['m.pt', 'm.pth', 'm.bin', 'm.ckpt', 'm.pkl', 'm.pickle', 'm.safetensors'])
    for (const [kind, bytes] of Object.entries(contents)) {
      const file = tally.path(name);
      fs.writeFileSync(file, bytes);
      await tally.expect(`${kind} as ${name}`, async () => {
        const said = await refusal(() => openSafetensors(file));
        assert.ok(!said.includes('\n'), 'more than one line');
        if (!(name.endsWith('.safetensors') && kind === 'protocol 0'))
          assert.match(said, /never read here; convert it .*, in Python: import torch; .*save_file\(/);
      });
    }
  await tally.expect('a model folder with pytorch_model.bin', async () => {
    const folder = tally.path('model');
    fs.mkdirSync(folder);
    for (const name of ['config.json', 'tokenizer.json']) fs.writeFileSync(`${folder}/${name}`, '{}');
    fs.writeFileSync(`${folder}/pytorch_model.bin`, code);
    await refusal(() => openPretrainedEncoder(folder));
    assert.match(await refusal(() => openWeights(folder)), /never read here/);
  });
  await tally.expect('no pickle ran', () => assert.ok(!fs.existsSync(mark)));
}

export const faults: readonly Fault[] = [
  { row: 11, fault: 'hostile weight files', inject: hostile },
  { row: 12, fault: 'pickles', inject: pickles },
];
