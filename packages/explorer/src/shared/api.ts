import type { z } from 'zod';
import type { Described, Endpoint } from './inputs.ts';
import { routes } from './routes.ts';
import { runEndpoints } from './run-endpoints.ts';
import { textEndpoints } from './text-endpoints.ts';
import { walkEndpoints } from './walk-endpoints.ts';

/** Everything the page and the server say to each other; the OpenAPI document is made from it. */

export type { Endpoint } from './inputs.ts';
export type { Opened } from './run-endpoints.ts';

/** The name of an endpoint of the server. */
export type EndpointName = keyof typeof routes;

const described = { ...runEndpoints, ...textEndpoints, ...walkEndpoints } satisfies Record<
  EndpointName,
  Described
>;

export const endpoints = Object.fromEntries(
  Object.entries(routes).map(([name, [method, path]]) => [
    name,
    { method, path, ...described[name as EndpointName] } satisfies Endpoint,
  ]),
) as { [N in EndpointName]: Endpoint & (typeof described)[N] };

type Schemas<N extends EndpointName> = (typeof described)[N];
/** What an endpoint answers with. */
export type Answer<N extends EndpointName> = z.infer<Schemas<N>['response']>;
type Part<N extends EndpointName, P extends string> =
  Schemas<N> extends { [K in P]: infer S extends z.ZodType } ? S : z.ZodUnknown;
/** What a handler is given: path, query and body together. */
export type Input<N extends EndpointName> = z.output<Part<N, 'params'>> &
  z.output<Part<N, 'query'>> &
  z.output<Part<N, 'body'>>;
/** What a client sends: the same before defaults are filled in. */
export type Asked<N extends EndpointName> = z.input<Part<N, 'params'>> &
  z.input<Part<N, 'query'>> &
  z.input<Part<N, 'body'>>;
