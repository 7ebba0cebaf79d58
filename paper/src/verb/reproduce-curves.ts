import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeOutput } from '@hidden-schema/cli/output-files';
import { live, print } from '@hidden-schema/cli/terminal';
import type { NamedFigure } from '@hidden-schema/studies/drawing/results';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import type { CurveOptions, CurvePoint } from '../reproduction/curves.ts';
import { seedsTo } from '../reproduction/presets/preset.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';

/** Recovery against data for several topologies and sizes, beside counting and Baum-Welch; figures and JSON. */
export async function reproduceCurves(
  flags: Pick<ReproduceFlags, 'quick' | 'seeds' | 'out'>,
): Promise<Reproduced> {
  const { UserError } = await import('@hidden-schema/base');
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  const { curveMethods, recoveryCurves } = await import('../reproduction/curves.ts');
  const seeds = Number(flags.seeds ?? (flags.quick ? 1 : 3));
  if (!Number.isInteger(seeds) || seeds < 1)
    throw new UserError(`--seeds takes a whole number from 1, got ${flags.seeds}`);
  const options: CurveOptions = {
    graphs: flags.quick ? ['barabasi'] : ['barabasi', 'erdos', 'watts', 'blocks'],
    nodes: flags.quick ? [50] : [50, 100, 200, 500],
    sentences: flags.quick ? [300, 1000, 3000] : [300, 1000, 3000, 10_000, 30_000],
    seeds,
  };
  const total =
    options.graphs.length * options.nodes.length * 2 * options.sentences.length * seeds * curveMethods.length;
  const progress = new Progress({ label: 'curves', total, unit: 'fits', output: live });
  const points: CurvePoint[] = [];
  await recoveryCurves({
    ...options,
    onPoint: (point) => {
      points.push(point);
      progress.update(points.length, { now: `${point.graph} ${point.nodes} ${point.method}` });
    },
  });
  progress.finish();
  const drawings = await drawn(options, points);
  const files = await write(flags.out, drawings, points);
  const { sheetText } = await import('@hidden-schema/studies/drawing/sheets');
  const sheet = await summary(points);
  print(`${sheetText(sheet, 'terminal')}\nwritten: ${files.join(', ')}\n`);
  const title = 'Recovery of graphs against the number of sentences';
  return { name: 'curves', title, data: points, sheets: [sheet], figures: drawings, seeds: seedsTo(seeds) };
}

async function drawn(options: CurveOptions, points: readonly CurvePoint[]): Promise<NamedFigure[]> {
  const { curveFigure } = await import('../reproduction/curves.ts');
  const all: NamedFigure[] = [];
  for (const graph of options.graphs)
    for (const nodes of options.nodes)
      for (const shared of [false, true]) {
        const title = `${graph}, ${nodes} symbols, tokens ${shared ? 'shared' : 'not shared'}`;
        const svg = await curveFigure(points, graph, nodes, shared);
        all.push({ name: `curve-${graph}-${nodes}-${shared ? 'shared' : 'disjoint'}`, title, svg });
      }
  return all;
}

async function write(
  folder: string,
  drawings: readonly NamedFigure[],
  points: readonly CurvePoint[],
): Promise<string[]> {
  const { toPng } = await import('@hidden-schema/studies/drawing/png');
  mkdirSync(folder, { recursive: true });
  const files = [path.join(folder, 'curves.json')];
  await writeOutput(files[0]!, `${JSON.stringify(points, null, 2)}\n`);
  for (const { name, svg } of drawings) {
    const base = path.join(folder, name);
    await writeOutput(`${base}.svg`, svg);
    await writeOutput(`${base}.png`, toPng(svg));
    files.push(`${base}.png`);
  }
  return files;
}

/** How often each method found every link and no other, and its mean AUC. */
async function summary(points: readonly CurvePoint[]): Promise<Sheet> {
  const { meanSd } = await import('@hidden-schema/base');
  const { curveMethods } = await import('../reproduction/curves.ts');
  const columns = [
    { title: 'method' },
    { title: 'exact' },
    { title: 'mean AUC', digits: 4 },
    { title: 'wrong links', digits: 1 },
  ];
  const rows = curveMethods.map((method) => {
    const own = points.filter((point) => point.method === method);
    const exact = own.filter((point) => point.frobenius_truth === 0).length;
    const mean = (value: (point: CurvePoint) => number) => meanSd(own.map(value)).mean;
    return [method, `${exact} of ${own.length}`, mean((p) => p.auc), mean((p) => p.frobenius_truth ** 2)];
  });
  return { name: 'curves', title: 'Graphs found in full', columns, rows };
}
