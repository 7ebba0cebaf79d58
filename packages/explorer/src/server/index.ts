import { once } from 'node:events';
import { type AddressInfo, isIPv6 } from 'node:net';
import { UserError } from '@hidden-schema/base';
import { VERSION } from '@hidden-schema/hsn';
import { analysisEndpoints } from './analyses.ts';
import { createApp } from './app.ts';
import { loadAssets } from './assets.ts';
import { builtPage } from './build.ts';
import { Connections } from './connections.ts';
import { Guard, isLoopback } from './guard.ts';
import { LIMITS, type Limits } from './limits.ts';
import { createServer } from './listener.ts';
import { Runs } from './runs.ts';

export { serveAgents } from './agents.ts';

/** What is served, and where. */
export interface ExplorerOptions {
  /** A run's folder, a folder that holds runs, or several of these. */
  run: string | readonly string[];
  /** 0, the default, takes any free one. */
  port?: number;
  /** 127.0.0.1 by default; any address beyond this machine needs a token. */
  host?: string;
  token?: string;
  limits?: Partial<Limits>;
  /** Told what takes time, such as building the page. */
  say?: (text: string) => void;
}

/** An explorer that is served. */
export interface Explorer {
  /** Where to look, token included. */
  url: string;
  close(): Promise<void>;
}

/** Serves the explorer of one or more runs until it is closed. */
export async function startExplorer(options: ExplorerOptions): Promise<Explorer> {
  const { run, port = 0, host = '127.0.0.1', token, say } = options;
  const limits = { ...LIMITS, ...options.limits };
  checkAddress(host, port, token);
  const runs = new Runs([run].flat(), limits);
  const assets = loadAssets(await builtPage(say));
  const app = createApp({
    runs,
    analyses: await analysisEndpoints(),
    assets,
    version: VERSION,
    body: limits.body,
    token,
  });
  let guard: Guard | undefined;
  const connections = new Connections(limits.connections, token !== undefined);
  const server = createServer({ app, guard: () => guard!, connections, limits });
  try {
    const bound = await listen(server, port, host);
    guard = new Guard({ host, port: bound, token, body: limits.body });
    // The first run is what people see first.
    runs.facts().look();
    const shown = `http://${isIPv6(host) ? `[${host}]` : host}:${bound}/`;
    return {
      url: token === undefined ? shown : `${shown}?token=${token}`,
      close: async () => {
        server.close();
        server.closeAllConnections();
        await runs.close();
      },
    };
  } catch (error) {
    await runs.close();
    throw error;
  }
}

async function listen(server: ReturnType<typeof createServer>, port: number, host: string): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const hint = code === 'EADDRINUSE' ? `port ${port} is taken; choose another, or 0 for any` : message;
    throw new UserError(`cannot listen on ${host}: ${hint}`);
  }
  return (server.address() as AddressInfo).port;
}

function checkAddress(host: string, port: number, token: string | undefined): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UserError(`a port is a whole number from 0 to 65535, got ${port}`);
  if (token !== undefined && !/^[\w.~-]{16,200}$/.test(token))
    throw new UserError('a token has 16 to 200 letters, digits, or any of . _ ~ -');
  if (!isLoopback(host) && token === undefined)
    throw new UserError(
      `${host} is not this machine alone: others on the network could read and rename this run. Leave --host out, or add --token`,
    );
}
