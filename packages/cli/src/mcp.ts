import type { Command } from 'commander';
import { stopAsked } from './stopping.ts';
import { say } from './terminal.ts';

const examples = `
Examples:
  $ hsn mcp run                 agents may look: symbols, texts, walks, groups, time, the evaluation
  $ hsn mcp run --edit          and rename, merge, split and undo
  $ hsn mcp run-a run-b         several runs

An agent's program starts this command itself and speaks the Model Context Protocol over standard input and output. Its
settings need the command and its words, such as {"command": "npx", "args": ["hsn", "mcp", "/folder/run"]}. The tools are
the analyses of the command line, and endpoints of the explorer's HTTP API. Nothing listens on the network.
`;

export function register(program: Command): void {
  program
    .command('mcp')
    .summary('give runs to agents as tools (Model Context Protocol)')
    .description(
      'Serve runs as tools for agents, by the Model Context Protocol over standard input and output.',
    )
    .argument('<run...>', 'run folders, or folders that hold runs')
    .option('--edit', 'add the tools that change symbols; without it agents only look')
    .addHelpText('after', examples)
    .action(mcp);
}

async function mcp(runs: string[], flags: { edit?: boolean }): Promise<void> {
  const { serveAgents } = await import('@hidden-schema/explorer');
  say(`hsn mcp: ${runs.join(', ')}, ${flags.edit ? 'with edits' : 'read-only'}\n`);
  const ended = new AbortController();
  void stopAsked().then(() => ended.abort());
  await serveAgents({ run: runs, edit: flags.edit ?? false }, ended.signal);
}
