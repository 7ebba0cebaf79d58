import { z } from 'zod';

/** Parts that requests share. */

export const ofRun = {
  run: z.string().max(300).optional().describe('Which run, by its id in /api/runs; the first unless said.'),
};
export const one = z.strictObject(ofRun);
export const params = z.strictObject({ k: z.coerce.number().int().min(0).max(1_000_000) });

/** What every edit carries: the identity of the run whose symbols its sender saw. */
export const seen = {
  identity: z
    .string()
    .min(1)
    .max(200)
    .describe('`identity` of the graph or symbol that is edited; 409 where symbols were edited since.'),
};

export interface Endpoint {
  method: 'get' | 'post';
  path: string;
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodObject;
  response: z.ZodType;
  example?: unknown;
}
