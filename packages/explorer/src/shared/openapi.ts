import { z } from 'zod';
import { type Endpoint, endpoints } from './api.ts';
import { faultSchema } from './inputs.ts';

type Json = Record<string, unknown>;

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

const content = (schema: Json, example?: unknown): Json => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** Parameters of a path or a query as OpenAPI lists them. */
function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, inner]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    // A coerced number is "anything" as input; what comes out of it is what is meant.
    schema: (schemaOf(schema, 'output').properties as Record<string, Json>)[name] ?? inner,
  }));
}

function operation(endpoint: Endpoint): Json {
  const { summary, params, query, body, response, example } = endpoint;
  return {
    summary,
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...(body ? { requestBody: { required: true, content: content(schemaOf(body, 'input'), example) } } : {}),
    responses: {
      200: { description: 'As asked', content: content(schemaOf(response, 'output')) },
      default: { description: 'A fault', content: content({ $ref: '#/components/schemas/Fault' }) },
    },
  };
}

/** The HTTP API as an OpenAPI 3.1 document: endpoints of the page, and those of analyses. */
export function openApi(version: string, analyses: readonly (Endpoint & { analysis: string })[]): Json {
  const paths: Record<string, Json> = {};
  const own = analyses.map((endpoint) => [`analyses/${endpoint.analysis}`, endpoint] as const);
  for (const [operationId, endpoint] of [...Object.entries<Endpoint>(endpoints), ...own]) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: { operationId, ...operation(endpoint) } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Hidden Schema Networks explorer', version },
    paths,
    components: { schemas: { Fault: schemaOf(faultSchema, 'output') } },
  };
}
