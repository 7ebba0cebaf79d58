import type { Readable, Writable } from 'node:stream';
import { reasonOf } from '@hidden-schema/base';
import { VERSION } from '@hidden-schema/hsn/run/run-record';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Endpoint, type EndpointName, endpoints } from '../shared/api.ts';
import { analysisEndpoints } from './analyses.ts';
import { check, handlersOf } from './app.ts';
import { LIMITS } from './limits.ts';
import { Runs } from './runs.ts';

/** What agents are given, and how far they may go. */
export interface AgentOptions {
  /** A run's folder, a folder that holds runs, or several of these. */
  run: string | readonly string[];
  /** Whether tools that change symbols are among them; not unless asked for. */
  edit?: boolean;
  /** Where requests come from and answers go to; the process's own standard streams unless given. */
  input?: Readable;
  output?: Writable;
}

/** Endpoints that only a page has use for: places of dots, live curves, what is shown while training goes on. */
const ofThePage: ReadonlySet<EndpointName> = new Set(['map', 'metrics', 'curves', 'samples']);
/** Endpoints that change a run. */
const edits: ReadonlySet<EndpointName> = new Set(['rename', 'merge', 'split', 'undo']);
/** Characters of an answer: what is longer fills an agent's context and helps nobody. */
const longest = 200_000;

interface Tool {
  name: string;
  endpoint: Endpoint;
  /** Parameters of path, query and body together. */
  input: z.ZodObject;
  /** The answer to an input that was checked, and a shorter one where there is one. */
  answer(input: object, signal: AbortSignal): unknown;
  shorter?(input: object, signal: AbortSignal): Promise<unknown>;
}

/** Analyses, and those endpoints of the page whose names no analysis has. */
async function toolsOf(runs: Runs, mayEdit: boolean): Promise<Tool[]> {
  const analyses = await analysisEndpoints();
  const taken = new Set<string>(analyses.map(({ analysis }) => analysis));
  const handlers = handlersOf(runs);
  const names = (Object.keys(endpoints) as EndpointName[]).filter(
    (name) => !ofThePage.has(name) && !taken.has(name) && (mayEdit || !edits.has(name)),
  );
  return [
    ...names.map((name) => ({
      ...toolOf(name, endpoints[name]),
      // The input was checked by this endpoint's own schemas.
      answer: handlers[name] as Tool['answer'],
    })),
    ...analyses.map((endpoint) => {
      const ask =
        (as: 'data' | 'tables'): Tool['answer'] =>
        ({ run, ...options }: { run?: string }, signal) =>
          runs.ask('analysis', { run, analysis: endpoint.analysis, options, as }, signal);
      return {
        ...toolOf(endpoint.analysis, endpoint),
        answer: ask('data'),
        shorter: ask('tables') as Tool['shorter'],
      };
    }),
  ];
}

function toolOf(name: string, endpoint: Endpoint): Pick<Tool, 'name' | 'endpoint' | 'input'> {
  const { params, query, body } = endpoint;
  const shape = Object.assign({}, params?.shape, query?.shape, body?.shape) as z.ZodRawShape;
  return { name, endpoint, input: z.strictObject(shape) };
}

/** A tool as agents are told of it: name, summary, JSON schema of its parameters, whether it changes anything. */
function described({ name, endpoint, input }: Tool) {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return {
    name,
    description: endpoint.summary,
    inputSchema: { ...inputSchema, type: 'object' as const },
    annotations: { readOnlyHint: !edits.has(name as EndpointName), openWorldHint: false },
  };
}

/** Serves runs as tools for agents (Model Context Protocol) over standard streams until they close or a signal comes. */
export async function serveAgents(options: AgentOptions, signal?: AbortSignal): Promise<void> {
  const runs = new Runs([options.run].flat(), LIMITS);
  try {
    const tools = await toolsOf(runs, options.edit ?? false);
    const server = new Server(
      { name: 'hidden-schema-networks', version: VERSION },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      answered(tools, { ...params, signal: extra.signal }),
    );
    await connected(server, options, signal);
  } finally {
    await runs.close();
  }
}

async function connected(
  server: Server,
  { input, output }: AgentOptions,
  signal?: AbortSignal,
): Promise<void> {
  const source = input ?? process.stdin;
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    source.once('end', resolve).once('close', resolve);
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport(source, output));
  await ended;
  await server.close();
}

/** The answer of a tool as JSON text, or as tables where that is too long; what is wrong is an answer too, which an agent can read. */
async function answered(
  tools: readonly Tool[],
  call: { name: string; arguments?: unknown; signal: AbortSignal },
) {
  try {
    const tool = tools.find(({ name }) => name === call.name);
    if (!tool)
      throw new Error(`there is no tool ${call.name}; there are ${tools.map(({ name }) => name).join(', ')}`);
    const input = check(tool.input, call.arguments ?? {}, 'the call');
    const text = JSON.stringify(await tool.answer(input, call.signal));
    if (text.length <= longest) return { content: [{ type: 'text' as const, text }] };
    const tables = await tool.shorter?.(input, call.signal);
    if (typeof tables === 'string' && tables.length <= longest)
      return { content: [{ type: 'text' as const, text: tables }] };
    throw new Error(
      `the answer has ${text.length} characters, more than ${longest}; ask for less, such as one symbol or a page`,
    );
  } catch (error) {
    return { content: [{ type: 'text' as const, text: reasonOf(error) }], isError: true };
  }
}
