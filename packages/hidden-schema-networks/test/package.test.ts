import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPackage } from '../../../packaging/build.ts';
import { pack } from '../../../packaging/engine/pack.ts';
import { InstalledPackage, RESOLUTIONS, type Resolution } from '../../../packaging/installed.ts';

const folder = temporaryFolder('package');
afterAll(folder.remove);
const built = folder.path('built');
const addon = fileURLToPath(new URL('../../torch/build/torch.node', import.meta.url));
const nowhere = { HSN_ADDON: folder.path('none.node') };
let installed: InstalledPackage;

beforeAll(async () => {
  await buildPackage(built);
  const { file } = pack(built, folder.path('tarballs'));
  installed = new InstalledPackage([file], folder.path('app'), { HSN_ADDON: addon, HSN_THREADS: '1' });
}, 300_000);

const filesOf = (ending: RegExp): string[] =>
  fs.readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) => ending.test(name));

describe('the package', () => {
  test('names nothing of the workspace, and no TypeScript', () => {
    const strange = filesOf(/\.(js|mjs|d\.ts)$/).filter((name) => {
      const text = fs.readFileSync(path.join(built, name), 'utf8');
      return /from\s*['"](@hidden-schema\/|[^'"]*\.ts['"])|tsx\/esm/.test(text);
    });
    expect(strange).toEqual([]);
    const { dependencies, optionalDependencies, scripts, version, bin, engines, license } = JSON.parse(
      fs.readFileSync(path.join(built, 'package.json'), 'utf8'),
    );
    expect(Object.keys(dependencies).filter((name) => /^(@hidden-schema|tsx|vite)/.test(name))).toEqual([]);
    // Nothing runs at install: the engine comes compiled, of the same version.
    expect(scripts).toBeUndefined();
    expect(optionalDependencies).toEqual({ '@hidden-schema/engine-linux-x64': version });
    expect({ bin, engines, license }).toEqual({
      bin: { hsn: 'bin/hsn.js' },
      engines: { node: '>=20.11' },
      license: 'MIT',
    });
  });

  test('has declarations whose maps lead to their sources', () => {
    const maps = filesOf(/\.d\.ts\.map$/);
    expect(maps.length).toBeGreaterThan(300);
    const lost = maps.filter((name) => {
      const file = path.join(built, name);
      const { sources } = JSON.parse(fs.readFileSync(file, 'utf8')) as { sources: string[] };
      return !fs.existsSync(path.resolve(path.dirname(file), sources[0]!));
    });
    expect(lost).toEqual([]);
  });
});

describe('installed in a folder of its own', () => {
  test.each(Object.keys(RESOLUTIONS) as Resolution[])('a program is compiled with %s', (resolution) => {
    installed.compile(resolution);
  });

  test('the program trains, opens, reads, writes and serves', () => {
    expect(installed.runProgram(folder.path('run'))).toEqual({
      steps: 3,
      walk: [expect.any(Number), expect.any(Number), expect.any(Number)],
      text: expect.any(String),
      refused: [true, true],
      status: [200, 200],
      six: 6,
      link: expect.any(Number),
      sentences: expect.any(Number),
      symbols: 6,
      task: 'LanguageTask',
    });
    expect(installed.hsn(['runs', folder.path('run')])).toContain('finished');
  });

  test("the paper's experiments are left out, which verbs and runs of a rival say in one line", async () => {
    expect(
      filesOf(/rival|reproduction|numpy|baum-welch/).filter((name) => !/config|cli\/src/.test(name)),
    ).toEqual([]);
    const missing =
      /^hsn: (.*) comes with the repository of Hidden Schema Networks and not with the npm package; .*$/m;
    const said = (...words: string[]): string | undefined => {
      try {
        return `no error: ${installed.hsn(words)}`;
      } catch (error) {
        return missing.exec((error as Error).message)?.[1];
      }
    };
    const corpus = writeTexts(folder.path('reviews.tsv'));
    const run = folder.path('optimus');
    const tiny = [
      'encoder.name=lstm',
      'encoder.width=8',
      'decoder.width=16',
      'decoder.layers=1',
      'training.steps=2',
    ];
    const optimus = ['--corpus', corpus, '--set', 'model=optimus', ...tiny.flatMap((set) => ['--set', set])];
    expect(await hsn('train', '--out', run, ...optimus)).toMatchObject({ code: 0 });
    expect(said('reproduce', 'table1', '--quick')).toBe('hsn reproduce');
    expect(said('data', 'authors', 'Erdos', '--out', 'erdos')).toBe('hsn data authors');
    expect(said('eval', run)).toBe(`${run} is a run of Optimus, which`);
    expect(said('generate', run, '--prior')).toBe(`${run} is a run of Optimus, which`);
    expect(said('train', '--out', folder.path('other'), ...optimus)).toBe('training of Optimus');
    expect(installed.hsn(['runs', run])).toContain('finished');
  });

  /** Files that a verb reads. */
  function loadedBy(...words: string[]): string[] {
    const coverage = folder.path(`coverage-${words[0]}`);
    installed.hsn(words, process.execPath, { NODE_V8_COVERAGE: coverage });
    const [report] = fs.readdirSync(coverage);
    const { result } = JSON.parse(fs.readFileSync(path.join(coverage, report!), 'utf8')) as {
      result: { url: string }[];
    };
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  }

  test('hsn --help loads the command line, and nothing that is heavy', () => {
    expect(installed.npx('--help')).toContain('Usage: hsn <verb> [options]');
    const loaded = loadedBy('--help');
    expect(loaded.length).toBeGreaterThan(20);
    // Verbs of analyses are made from their declarations, which have options by zod and compute nothing.
    const light =
      /\/(bin|lib\/cli|lib\/base|lib\/studies\/src\/analyses|commander|zod)\/|\/period-lengths\.js$/;
    expect(loaded.filter((url) => !light.test(url))).toEqual([]);
    expect(loaded.filter((url) => !/\/zod\//.test(url)).length).toBeLessThan(120);
  });

  test('hsn schema loads its own verb and settings, no other verb, no model, no engine', () => {
    const loaded = loadedBy('schema');
    const heavy = /\/lib\/(?:(?:torch|text|studies|explorer|transformers)\/|hsn\/src\/(?!config\/))/;
    const names = /\/(default-encoder|analyses\/index|priors\/names|processes\/names)\.js$/;
    expect(loaded.filter((url) => heavy.test(url) && !names.test(url))).toEqual([]);
    expect(loaded.some((url) => url.endsWith('/cli/src/train.js'))).toBe(false);
    expect(loaded.length).toBeLessThan(230);
  });

  test('what computes nothing needs no engine', () => {
    for (const words of [['runs', folder.path('run')], ['verify', folder.path('run')], ['schema']])
      expect(installed.hsn(words, process.execPath, nowhere)).not.toBe('');
  });

  test('without an engine it says what to do', () => {
    expect(() => installed.hsn(['eval', folder.path('run')], process.execPath, nowhere)).toThrow(
      /hsn: the engine is not set up: .*run "npx hsn setup"/,
    );
  });
});
