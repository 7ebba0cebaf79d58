import { type Analysis, type AnalysisName, analyses, loadAnalysis } from '@hidden-schema/studies/analyses';
import { z } from 'zod';
import { type Endpoint, one } from '../shared/inputs.ts';

/** An analysis of the table as an endpoint. */
export interface AnalysisEndpoint extends Endpoint {
  analysis: AnalysisName;
  body: z.ZodObject;
}

/** What a process of a model is asked: an analysis by its name, as data or as the tables that people read. */
export interface AnalysisTask {
  run?: string | undefined;
  analysis: AnalysisName;
  options: Record<string, unknown>;
  as?: 'data' | 'tables';
}

/** The endpoints of all analyses, by their names. */
export async function analysisEndpoints(): Promise<readonly AnalysisEndpoint[]> {
  const names = Object.keys(analyses) as AnalysisName[];
  return Promise.all(names.map(async (name) => endpointOf(name, await loadAnalysis(name))));
}

function endpointOf(analysis: AnalysisName, { name, summary, needs, options }: Analysis): AnalysisEndpoint {
  const needed = needs.length > 0 ? ` (needs ${needs.join(', ')})` : '';
  return {
    ...{ analysis, method: 'post', path: `/api/analyses/${name}`, query: one },
    summary: `${summary[0]!.toUpperCase()}${summary.slice(1)}${needed}`,
    // A server has read its texts already, as many as it shows.
    body: 'limit' in options.shape ? options.omit({ limit: true }) : options,
    response: z.unknown().describe(`Its result, as the library gives it.`),
  };
}
