import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';

export interface PngOptions {
  /** Pixels for each unit of the SVG; 2 by default. */
  scale?: number;
  /** Use the system's fonts before our own; true by default. */
  systemFonts?: boolean;
}

/** Fonts that come along, because a bare system has none and letters would be left out. */
const ownFonts = ['DejaVuSans', 'DejaVuSans-Bold'].map((name) =>
  createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`),
);

/** An SVG as PNG. */
export function toPng(svg: string, { scale = 2, systemFonts = true }: PngOptions = {}): Buffer {
  const font = { loadSystemFonts: systemFonts, fontFiles: ownFonts, defaultFontFamily: 'DejaVu Sans' };
  const rendered = new Resvg(svg, { fitTo: { mode: 'zoom', value: scale }, background: '#ffffff', font });
  return rendered.render().asPng();
}
