import type { CsvCell as Cell } from '@hidden-schema/base/csv';
import type { ComponentChildren, RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { svgText } from './download.ts';
import { Downloads } from './downloads.tsx';
import { type Inks, inksOf } from './inks.ts';

interface FigureProps {
  /** The file's name when it is downloaded. */
  name: string;
  caption: ComponentChildren;
  dark: boolean;
  rows: () => readonly (readonly Cell[])[];
  children: (svg: RefObject<SVGSVGElement | null>, inks: Inks) => ComponentChildren;
}

/** A drawing with its caption and its downloads. */
export function Figure({ name, caption, dark, rows, children }: FigureProps) {
  const svg = useRef<SVGSVGElement>(null);
  const colours = inksOf(dark);
  return (
    <figure class="figure" data-figure={name}>
      <figcaption>
        <span class="figure-title">{caption}</span>
        <Downloads name={name} svg={() => svgText(svg.current!, colours.ground)} rows={rows} />
      </figcaption>
      {children(svg, colours)}
    </figure>
  );
}

interface TableHeadProps {
  children: ComponentChildren;
  name: string;
  rows: () => readonly (readonly Cell[])[];
}

/** The heading of a table, with its download. */
export const TableHead = ({ children, name, rows }: TableHeadProps) => (
  <h3 class="table-head">
    <span>{children}</span>
    <Downloads name={name} rows={rows} />
  </h3>
);
