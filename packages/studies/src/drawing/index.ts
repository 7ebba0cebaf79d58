export { linkStrengths, scaledLinks, strongestLinks } from '../measures/link-strength.ts';
export { type Curve, drawCurves, plotCurves } from './curves.ts';
export { type HeatLook, heatMarks } from './heat-figure.ts';
export { mapFigure } from './map-figure.ts';
export type { Scale } from './scales.ts';
export { drawing, type Inks, linePath, type Mark, mark, placed, text } from './svg.ts';
export { symbolCentres } from './symbol-centres.ts';
export { css, type Rgb, rgbOf, symbolTones } from './symbol-colours.ts';
export { TIME_PANEL, timePanelMarks } from './time-figure.ts';
