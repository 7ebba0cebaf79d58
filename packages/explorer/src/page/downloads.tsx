import { type CsvCell as Cell, csvText } from '@hidden-schema/base/csv';
import { download, downloadPng } from './download.ts';

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
        <button
          type="button"
          title={`Download ${name}.svg`}
          onClick={() => download(`${name}.svg`, 'image/svg+xml', svg())}
        >
          SVG
        </button>
        <button
          type="button"
          title={`Download ${name}.png`}
          onClick={() => void downloadPng(`${name}.png`, svg())}
        >
          PNG
        </button>
      </>
    ) : null}
    {rows ? (
      <button
        type="button"
        title={`Download ${name}.csv`}
        onClick={async () => download(`${name}.csv`, 'text/csv', csvText(await rows()))}
      >
        CSV
      </button>
    ) : null}
  </span>
);
