import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createProgram, main } from '@hidden-schema/cli/main';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CodeBlock, codeBlocks, hsnWords, type ShellCommand, shellCommands } from './code-blocks.ts';
import { prepareExamples, restoreExamples, smallWords } from './example-folder.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const folder = temporaryFolder('docs-blocks');
/** Where pages say that it is. */
const EXPLORER = 'http://127.0.0.1:8080';
const began = process.cwd();

const pages = [
  'README.md',
  'packages/hidden-schema-networks/README.md',
  ...fs
    .readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('reference/library'))
    .sort()
    .map((name) => `docs/${name}`),
];
const blocks = pages.flatMap((page) => codeBlocks(page, fs.readFileSync(path.join(ROOT, page), 'utf8')));
const ofLanguage = (language: string) => blocks.filter((block) => block.language === language);
const titled = (all: CodeBlock[]) => all.map((block) => [`${block.page}:${block.line}`, block] as const);

beforeAll(async () => {
  folder.holdCache();
  fs.mkdirSync(folder.path('examples'));
  process.chdir(folder.path('examples'));
  await prepareExamples();
}, 300_000);
afterAll(async () => {
  await explorer.close();
  process.chdir(began);
  folder.remove();
});

/** The explorer that a page started last, in this process, which its requests go to. */
const explorer = {
  url: '',
  ended: undefined as Promise<void> | undefined,
  async start(words: readonly string[]): Promise<void> {
    await this.close();
    const { write } = process.stdout;
    const restore = () => {
      process.stdout.write = write;
    };
    this.url = await new Promise<string>((resolve, reject) => {
      process.stdout.write = (text: string | Uint8Array) => {
        const address = /http:\/\/[\d.:]+/.exec(String(text))?.[0];
        if (address !== undefined) resolve(address);
        return true;
      };
      this.ended = main([...words]);
      void this.ended.then(() => reject(new Error('hsn serve ended')));
    }).finally(restore);
  },
  /** As a terminal that is closed ends it. */
  async close(): Promise<void> {
    if (this.ended !== undefined) process.emit('SIGHUP');
    await this.ended;
    this.ended = undefined;
    process.exitCode = undefined;
  },
};

/** The real command line with actions that do nothing: what it refuses here, it refuses a reader. */
async function parse(words: readonly string[]): Promise<void> {
  const program = await createProgram();
  const idle = (command: Command): void => {
    for (const sub of command.commands) {
      if (sub.commands.length === 0) sub.action(() => undefined);
      idle(sub);
    }
  };
  idle(program);
  let said = '';
  program.configureOutput({
    writeErr: (text) => {
      said += text;
    },
    writeOut: () => undefined,
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if ((error as { exitCode?: number }).exitCode !== 0) throw new Error(`hsn ${words.join(' ')}: ${said}`);
  }
}

/** Sends what curl would send. */
async function curl(words: readonly string[]): Promise<void> {
  const options: Record<string, string> = {};
  let address = '';
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!;
    if (word === '-H' || word === '-d') options[word] = words[++i]!;
    else if (word !== '-s') address = word;
  }
  const [name, value] = options['-H']?.split(': ') ?? [];
  const request = options['-d'] === undefined ? {} : { method: 'POST', body: options['-d'] };
  const headers = name === undefined ? {} : { [name]: value! };
  const answer = await fetch(address.replace(EXPLORER, explorer.url), { ...request, headers });
  expect(answer.status, `${address}: ${await answer.clone().text()}`).toBe(200);
}

/** npm's commands ran before this test, or run it: what they name has to be there. */
function checkNpm([, verb, ...rest]: readonly string[]): void {
  const { scripts, devDependencies } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const own = 'hidden-schema-networks';
  if (verb === 'install' || verb === 'i')
    for (const name of rest) expect([own, ...Object.keys(devDependencies)]).toContain(name);
  else if (verb === 'run') expect(Object.keys(scripts)).toContain(rest.find((word) => !word.startsWith('-')));
  else expect(['test']).toContain(verb);
}

/** An explorer that a page before left running would write into the folder. */
async function remove(run: string): Promise<void> {
  await explorer.close();
  fs.rmSync(run, { recursive: true, force: true, maxRetries: 20 });
}

async function runHsn(words: string[], input: string | undefined): Promise<void> {
  const small = smallWords(words);
  if (words[0] === 'serve') return explorer.start(small);
  const out = words.indexOf('--out');
  // What a page makes itself takes the place of what was put there for pages that do not.
  if (/train|synth/.test(words.slice(0, 2).join()) && out > 0 && !words.includes('--resume'))
    await remove(words[out + 1]!);
  // Ranks are started by the command line of their parent, which here is the test's: such a command has its own process.
  if (input === undefined && !words.includes('--processes')) {
    const ended = await hsn(...small);
    return expect(ended.code, `hsn ${small.join(' ')}\n${ended.stderr}`).toBe(0);
  }
  const child = new HsnProcess(small, 'pipe');
  child.child.stdin!.end(input);
  const ended = await child.ended;
  expect(ended.code, ended.stderr).toBe(0);
}

async function runCommand(command: ShellCommand): Promise<void> {
  const words = hsnWords(command);
  if (words !== undefined) return runHsn(words, command.input);
  if (command.words[0] === 'npm') return checkNpm(command.words);
  if (command.words[0] === 'curl') return curl(command.words);
  throw new Error(`no test knows how to run ${command.words.join(' ')}`);
}

async function runProgram(text: string, name: string): Promise<void> {
  const made = text.includes('resume: true') ? [] : text.matchAll(/out: '([^']+)'/g);
  for (const [, out] of made) await remove(out!);
  if (text.includes(EXPLORER)) await explorer.start(['serve', 'runs/run-a', '--port', '0']);
  const own = text
    .replaceAll("'hidden-schema-networks'", "'./small.ts'")
    .replaceAll(/\bsteps: \d+/g, 'steps: 3')
    .replaceAll(EXPLORER, explorer.url);
  const file = path.resolve(name);
  fs.writeFileSync(file, own);
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...all) => void said.push(all.join(' ')));
  try {
    await import(/* @vite-ignore */ pathToFileURL(file).href);
  } finally {
    log.mockRestore();
  }
  if (text.includes('console.log')) expect(said.join('')).not.toBe('');
}

describe('every verb, flag and script exists', () => {
  test.each(titled(ofLanguage('sh')))('%s', async (_, block) => {
    for (const command of shellCommands(block.text)) {
      const words = hsnWords(command);
      if (words !== undefined) await parse(words);
      else if (command.words[0] === 'npm') checkNpm(command.words);
    }
  });
});

test('programs have no error of types', () => {
  const programs = ofLanguage('ts').map((block, i) => ({ ...block, file: `types-${i}.ts` }));
  for (const { file, text } of programs) fs.writeFileSync(file, `${text}\nexport {};\n`);
  const compilerOptions = {
    ...{ target: 'ES2023', lib: ['ES2023', 'ESNext.Disposable', 'DOM'], module: 'ESNext', types: ['node'] },
    ...{ moduleResolution: 'bundler', allowImportingTsExtensions: true, noEmit: true, strict: true },
    skipLibCheck: true,
  };
  fs.writeFileSync(
    'tsconfig.json',
    JSON.stringify({ compilerOptions, files: programs.map(({ file }) => file) }),
  );
  const tsc = path.join(ROOT, 'node_modules/typescript/lib/tsc.js');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', '.'], { encoding: 'utf8' });
  const places = programs.map(({ file, page, line }) => `${file} is ${page}:${line}`).join('\n');
  expect(status, `${stdout}\n${places}`).toBe(0);
});

const toRun = (page: string) =>
  blocks.filter((block) => block.page === page && /^(sh|ts)$/.test(block.language) && !block.notRun);

describe.each(pages.filter((page) => toRun(page).length > 0))('%s', (page) => {
  beforeAll(restoreExamples);

  test.each(titled(toRun(page)))(
    '%s runs',
    async (_, { language, text, line }) => {
      if (language === 'ts') await runProgram(text, `${path.basename(page, '.md')}-${line}.ts`);
      else for (const command of shellCommands(text)) await runCommand(command);
    },
    400_000,
  );
});

test('few blocks are not run, each with its reason', () => {
  const left = blocks.filter(({ notRun }) => notRun !== undefined);
  expect(left.length).toBeLessThanOrEqual(22);
  for (const { notRun } of left) expect(notRun!.length).toBeGreaterThan(20);
});
