import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { stopAsked } from './stopping.ts';
import { print, say } from './terminal.ts';

interface ServeFlags {
  port: string;
  host: string;
  token?: string | true;
  open?: boolean;
}

const examples = `
Examples:
  $ hsn serve run                          the explorer on a free port of this machine
  $ hsn serve run --port 8080 --open       and a browser that shows it
  $ hsn serve run-a run-b                  several runs, to compare them
  $ hsn serve runs                         all runs in a folder, new ones as they come
  $ hsn serve run --host 0.0.0.0 --token   for others on the network, with a secret in the address

A run in training is shown live. Ctrl-C ends.
`;

export function register(program: Command): void {
  program
    .command('serve')
    .summary('look at runs in the browser')
    .description(
      'Serve the explorer of runs: graph, symbols, sentences, writing, labels, training and figures.',
    )
    .argument('<run...>', 'run folders, or folders that hold runs')
    .option('--port <n>', 'port; 0 takes any free one', '0')
    .option('--host <address>', 'address to listen on; beyond this machine it needs --token', '127.0.0.1')
    .option('--token [secret]', 'a secret that every request must carry; without a value one is made')
    .option('--open', 'open the page in the browser')
    .addHelpText('after', examples)
    .action(serve);
}

async function serve(runs: string[], flags: ServeFlags): Promise<void> {
  const { startExplorer } = await import('@hidden-schema/explorer');
  const token = flags.token === true ? randomBytes(24).toString('base64url') : flags.token;
  const explorer = await startExplorer({
    run: runs,
    port: Number(flags.port === '' ? Number.NaN : flags.port),
    host: flags.host,
    say: (text) => say(`${text}\n`),
    ...(token === undefined ? {} : { token }),
  });
  print(`${runs.join(', ')}: ${explorer.url}\nCtrl-C ends\n`);
  if (flags.open) openBrowser(explorer.url);
  await stopAsked();
  await explorer.close();
}

function openBrowser(url: string): void {
  const programs: Partial<Record<NodeJS.Platform, [string, string[]]>> = {
    darwin: ['open', [url]],
    win32: ['cmd', ['/c', 'start', '', url]],
  };
  const [program, args] = programs[process.platform] ?? ['xdg-open', [url]];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => say(`no browser could be started; open ${url}\n`));
  child.unref();
}
