// One process that wants a model from a hub: endpoint and cache are its arguments.
import { fetchFromHub } from '@hidden-schema/transformers/hub';

const [endpoint, cache] = process.argv.slice(2) as [string, string];
let began = false;
const onProgress = (file: string) => {
  if (file !== 'model.safetensors') return;
  if (!began) process.stdout.write('downloading\n');
  began = true;
};
process.stdout.write(`${await fetchFromHub('tiny/bert', { endpoint, cache, onProgress })}\n`);
