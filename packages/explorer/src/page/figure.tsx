import { type CsvCell as Cell, csvText } from '@hidden-schema/base/csv';
import type { Mark } from '@hidden-schema/studies/drawing';
import { type ComponentChild, type ComponentChildren, h, type SVGAttributes } from 'preact';
import { useRef } from 'preact/hooks';
import { FONT, type Inks } from './graph/colours.ts';
import { Press } from './parts.tsx';

interface FigureProps extends SVGAttributes<SVGSVGElement> {
  /** The file's name when it is downloaded. */
  name: string;
  caption: ComponentChildren;
  rows: () => readonly (readonly Cell[])[];
  /** Of the drawing, in its own units. */
  size: readonly [width: number, height: number];
  inks: Inks;
}

/** A drawing with its caption and its downloads. */
export function Figure({ name, caption, rows, size, inks, ...drawing }: FigureProps) {
  const svg = useRef<SVGSVGElement>(null);
  return (
    <figure class="figure" data-figure={name}>
      <figcaption>
        <span class="figure-title">{caption}</span>
        <Downloads name={name} svg={() => svgText(svg.current!, inks.ground)} rows={rows} />
      </figcaption>
      <div class="scroll-x">
        <svg ref={svg} viewBox={`0 0 ${size.join(' ')}`} role="img" font-family={FONT} {...drawing} />
      </div>
    </figure>
  );
}

type TableHeadProps = Pick<FigureProps, 'name' | 'rows'> & { children: ComponentChildren };

/** The heading of a table, with its download. */
export const TableHead = ({ children, name, rows }: TableHeadProps) => (
  <h3 class="table-head">
    <span>{children}</span>
    <Downloads name={name} rows={rows} />
  </h3>
);

/** Marks of a drawing on the page: made as elements, since its policy lets no text become markup. */
export const Drawn = ({ marks }: { marks: readonly Mark[] }) => <>{marks.map(shown)}</>;

const shown = (mark: Mark | string, key: number): ComponentChild =>
  typeof mark === 'string' ? mark : h(mark.tag, { ...mark.attributes, key }, mark.children.map(shown));

type Rows = readonly (readonly Cell[])[];

interface DownloadsProps {
  /** The file's name without its ending. */
  name: string;
  /** The picture as SVG. */
  svg?: () => string;
  /** The numbers, headings first. */
  rows?: () => Rows | Promise<Rows>;
}

/** Every figure and table goes out as a file: SVG, PNG, CSV. */
export const Downloads = ({ name, svg, rows }: DownloadsProps) => (
  <span class="downloads">
    {svg ? (
      <>
        <Press title={`Download ${name}.svg`} onClick={() => download(`${name}.svg`, 'image/svg+xml', svg())}>
          SVG
        </Press>
        <Press title={`Download ${name}.png`} onClick={() => void downloadPng(`${name}.png`, svg())}>
          PNG
        </Press>
      </>
    ) : null}
    {rows ? (
      <Press
        title={`Download ${name}.csv`}
        onClick={async () => download(`${name}.csv`, 'text/csv', csvText(await rows()))}
      >
        CSV
      </Press>
    ) : null}
  </span>
);

/** Lets the browser store something as a file. */
export function download(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Dots of a PNG for each unit of the SVG: sharp on paper too. */
const SCALE = 2;

export async function downloadPng(name: string, svg: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (png) download(name, 'image/png', png);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** A drawing of the page as the text of a file of its own, on a ground. */
export function svgText(drawn: SVGSVGElement, ground: string): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const { width, height } = drawn.viewBox.baseVal;
  copy.removeAttribute('class');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('preserveAspectRatio', 'xMidYMid meet');
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  rect.setAttribute('width', '100%');
  rect.setAttribute('height', '100%');
  rect.setAttribute('fill', ground);
  copy.prepend(rect);
  return new XMLSerializer().serializeToString(copy);
}
