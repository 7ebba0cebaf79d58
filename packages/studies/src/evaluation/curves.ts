import { plainText } from '@hidden-schema/base';
import { CustomChart, type CustomSeriesOption, LineChart, type LineSeriesOption } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { COLOURS, FAINT_INK, FONT, INK } from './svg.ts';

use([LineChart, CustomChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

export interface Curve {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
  /** Lower and upper bound at each x, as of one standard deviation. */
  band?: readonly (readonly [x: number, low: number, high: number])[];
  /** For what is compared with, such as baselines. */
  dashed?: boolean;
  /** Without marks at its points, where these are many. */
  plain?: boolean;
}

export interface CurveFigure {
  title: string;
  xLabel: string;
  yLabel: string;
  logX?: boolean;
  /** The range of y; from the data where not given. */
  yRange?: readonly [number, number];
  series: readonly Curve[];
  width?: number;
  height?: number;
}

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];

/** Curves with bands as SVG, drawn without a browser. */
export function drawCurves(figure: CurveFigure): string {
  const { width = 760, height = 460 } = figure;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ ...heading(figure, width), ...plot(figure) });
    return withoutPageParts(chart.renderToSVGString());
  } finally {
    chart.dispose();
  }
}

const heading = (figure: CurveFigure, width: number) => ({
  animation: false,
  backgroundColor: '#ffffff',
  textStyle: { fontFamily: FONT, color: INK },
  title: {
    text: plainText(figure.title),
    left: 20,
    top: 14,
    textStyle: {
      fontFamily: FONT,
      fontSize: 18,
      fontWeight: 600,
      color: INK,
      width: width - 40,
      overflow: 'truncate' as const,
    },
  },
  legend: {
    left: 20,
    top: 46,
    itemWidth: 30,
    itemGap: 22,
    textStyle: { fontFamily: FONT, fontSize: 13, color: INK },
    data: figure.series.map(({ name }) => plainText(name)),
  },
});

const plot = (figure: CurveFigure) => ({
  grid: { left: 72, right: 28, top: 88, bottom: 64 },
  xAxis: {
    ...axis(figure.xLabel, 34),
    type: figure.logX ? ('log' as const) : ('value' as const),
    splitLine: { show: false },
    ...xRange(figure),
  },
  yAxis: { ...axis(figure.yLabel, 50), type: 'value' as const, scale: true, ...yRange(figure) },
  series: figure.series.flatMap(drawn),
});

/** Takes out what only a page needs (hover styles, data marks), numbered anew at every call. */
function withoutPageParts(svg: string): string {
  return svg
    .replace(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replace(/ (class="zr\d+-cls-\d+"|ecmeta_\w+="[^"]*"|pointer-events="\w+")/g, '')
    .replace(/zr\d+-c(\d+)/g, 'clip$1');
}

const labels = { fontFamily: FONT, fontSize: 12, color: FAINT_INK, hideOverlap: true };
const axis = (name: string, nameGap: number) => ({
  name: plainText(name),
  nameGap,
  nameLocation: 'middle' as const,
  nameTextStyle: { fontFamily: FONT, fontSize: 14, color: INK },
  axisLabel: labels,
  axisLine: { show: true, lineStyle: { color: '#9aa5b1' } },
  splitLine: { lineStyle: { color: '#e4e9ee' } },
});

/** On a logarithmic axis the data fill the width, with a little room at both ends. */
function xRange({ logX, series }: CurveFigure) {
  const xs = series.flatMap(({ points }) => points.map(([x]) => x));
  if (!logX) return {};
  const positive = xs.filter((x) => x > 0);
  if (positive.length === 0) return {};
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  return {
    min: least / 1.25,
    max: most * 1.25,
    axisLabel: { ...labels, showMinLabel: false, showMaxLabel: false },
  };
}

function yRange({ yRange: range }: CurveFigure): { min?: number; max?: number } {
  return range ? { min: range[0], max: range[1] } : {};
}

function drawn(curve: Curve, at: number): (LineSeriesOption | CustomSeriesOption)[] {
  const colour = COLOURS[at % COLOURS.length]!;
  const line: LineSeriesOption = {
    type: 'line',
    name: plainText(curve.name),
    data: curve.points.map(([x, y]) => [x, y]),
    symbol: SYMBOLS[at % SYMBOLS.length]!,
    symbolSize: 8,
    showSymbol: !curve.plain,
    z: 3,
    lineStyle: { width: 2.5, color: colour, type: curve.dashed ? 'dashed' : 'solid' },
    itemStyle: { color: colour },
  };
  return curve.band ? [bandOf(curve.band, colour), line] : [line];
}

/** One polygon: along the lower bounds and back along the upper ones. */
function bandOf(band: NonNullable<Curve['band']>, colour: string): CustomSeriesOption {
  return {
    type: 'custom',
    silent: true,
    clip: true,
    data: band.map(([x, low, high]) => [x, low, high]),
    // Both bounds count when the range of y is found.
    encode: { x: 0, y: [1, 2] },
    renderItem: (params, api) => {
      if (params.dataIndexInside !== 0) return null;
      const lower = band.map(([x, low]) => api.coord([x, low]));
      const upper = band.map(([x, , high]) => api.coord([x, high]));
      return {
        type: 'polygon',
        shape: { points: [...lower, ...upper.reverse()] },
        style: { fill: colour, opacity: 0.16 },
      };
    },
  };
}
