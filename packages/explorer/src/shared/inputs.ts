import { z } from 'zod';

/** Parts that requests and answers share. */

export const symbol = z.int().nonnegative();
export const probability = z.number().min(0).max(1);
export const name = z.string().nullable().describe('The name that a person gave the symbol, if any.');
export const step = z.int().describe('The checkpoint that this comes from.');
export const identity = z.string().describe('Of what is shown: another one after every edit of symbols.');
export const links = z.array(z.tuple([symbol, symbol, probability]));

export const splits = ['train', 'valid', 'test'] as const;
export const split = z.enum(splits);

export const text = z.string().max(20_000);
export const count = () => z.coerce.number().int().min(0);
/** Which part of a long list is asked for. */
export const page = { offset: count().default(0), limit: count().min(1).max(200).default(20) };

const ofRun = {
  run: z.string().max(300).optional().describe('Which run, by its id in /api/runs; the first unless said.'),
};
export const one = z.strictObject(ofRun);
/** Where a symbol's number stands in the address. */
export const ofSymbol = { params: z.strictObject({ k: count().max(1_000_000) }) };

/** What every edit carries: the identity of the run whose symbols its sender saw. */
export const seen = {
  identity: z
    .string()
    .min(1)
    .max(200)
    .describe('`identity` of the graph or symbol that is edited; 409 where symbols were edited since.'),
};
export const seenExample = { identity: '2026-11-18T09:00:00.000Z' };

export const faultSchema = z.object({
  error: z.object({
    code: z.string().describe('For programs: not_found, bad_request, not_yet, busy, …'),
    message: z.string().describe('For people: what was expected, what came, what to do.'),
  }),
});

/** What an endpoint takes and answers. */
export interface Described {
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodObject;
  response: z.ZodType;
  example?: unknown;
}

/** The same with how it is asked. */
export interface Endpoint extends Described {
  method: 'get' | 'post';
  path: string;
}

/** What is asked of a run by a query, and the fields of its answer. */
export const asks = <A extends z.ZodRawShape, Q extends z.ZodRawShape = Record<never, never>>(
  summary: string,
  answer: A,
  query?: Q,
) => ({ summary, query: one.extend((query ?? {}) as Q), response: z.object(answer) });

/** What a run is sent, with the fields of its answer, and an example. */
export const sends = <B extends z.ZodRawShape, A extends z.ZodRawShape>(
  summary: string,
  body: B,
  answer: A,
  example: unknown,
) => ({ summary, query: one, body: z.strictObject(body), response: z.object(answer), example });
