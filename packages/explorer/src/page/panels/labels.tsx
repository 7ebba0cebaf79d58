import type { Graph, Labels } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { colourOf } from '../graph/label-maps.ts';
import { HeatMap } from '../heat-map.tsx';
import { percent, titleIn } from '../labels.ts';
import { Dot, Press, SymbolLink, useFew, Waiting } from '../parts.tsx';
import { csvOf, DataTable } from '../tables.tsx';
import { differentPair } from '../texts/group.ts';
import { usePanel } from './panel.ts';

const FEW = 5;
const FEW_LABELS = 12;
/** Labels whose differences are written as numbers; of more they would not be read. */
const MOST_WRITTEN = 12;
/** Smaller divergences than this are not drawn as if they were large. */
const LEAST_FULL = 0.2;

/** How labels differ: the symbols that speak for each, and how far apart their distributions are. */
export function LabelsPanel() {
  const { labels, graph } = usePanel();
  const largestFirst = labels?.maps.toSorted((a, b) => b.sentences - a.sentences) ?? [];
  const { shown, more } = useFew(largestFirst, FEW_LABELS, { what: 'more labels' });
  if (!labels) return <Waiting what="Counting labels …" />;
  const names = labels.maps.map(({ label }) => label);
  return (
    <section class="labels" aria-label="Labels">
      <p class="faint">
        The themes that texts of each label have more of than all {labels.encoded.toLocaleString('en')} texts.
      </p>
      <Presets labels={labels} />
      <TableHead name="typical-symbols" rows={typicalRows(graph, labels)}>
        Typical themes
      </TableHead>
      {shown.map((map) => (
        <Typical key={map.label} map={map} />
      ))}
      {more}
      <details class="fold">
        <summary>How far labels are apart</summary>
        <HeatMap
          name="divergence"
          caption="Jensen–Shannon divergence of themes, bits: 0 for alike"
          rows={names}
          columns={names}
          values={labels.divergence}
          most={Math.max(LEAST_FULL, ...labels.divergence.flat())}
          written={names.length <= MOST_WRITTEN}
        />
      </details>
    </section>
  );
}

/** One press for the paper's figure: the two labels that differ most, of the large ones, on one layout. */
function Presets({ labels }: { labels: Labels }) {
  const { view, change } = usePanel();
  const counts = labels.maps.map(({ sentences }) => sentences);
  const pair = differentPair(
    labels.maps.map(({ label }) => label),
    counts,
    labels,
  );
  const both = labels.maps.flatMap(({ label }) => (pair.includes(label) ? [label] : []));
  return (
    <p class="buttons">
      <Press
        aria-pressed={view.maps.length === 2}
        disabled={both.length < 2}
        onClick={() =>
          change(view.maps.length === 2 ? { maps: [], show: 'both' } : { maps: both, show: 'graph' })
        }
      >
        {view.maps.length === 2 ? 'Back to one network' : 'Two labels side by side'}
      </Press>
      <Press
        aria-pressed={view.colour === 'label'}
        onClick={() => change({ colour: view.colour === 'label' ? 'community' : 'label', maps: [] })}
      >
        Colour by {view.colour === 'label' ? 'theme' : 'label'}
      </Press>
    </p>
  );
}

type TypicalProps = { map: Labels['maps'][number] };

function LabelHead({ map }: TypicalProps) {
  const { labels, change, view } = usePanel();
  const shown = view.label.includes(map.label);
  const toggle = () => change({ label: shown ? [] : [map.label] });
  return (
    <h4>
      <Dot colour={colourOf(labels, map.label)} square />
      {map.label} <span class="faint">{map.sentences.toLocaleString('en')} texts</span>
      <Press class="plain" onClick={toggle}>
        {shown ? 'show all texts' : 'show its texts'}
      </Press>
    </h4>
  );
}

const Typical = ({ map }: TypicalProps) => (
  <>
    <LabelHead map={map} />
    <DataTable
      data-label={map.label}
      of={map.typical.slice(0, FEW)}
      columns={[
        { head: 'Theme', cell: ({ symbol }) => <SymbolLink symbol={symbol} /> },
        { head: 'Share of steps', class: 'number', cell: ({ share }) => percent(share) },
        { head: 'Times the usual', class: 'number', cell: ({ lift }) => lift.toFixed(1) },
      ]}
    />
  </>
);

const typicalRows = (graph: Graph | null, { maps }: Labels) =>
  csvOf(
    maps.flatMap(({ label, typical }) => typical.map((one) => ({ label, ...one }))),
    {
      ...{ label: 'label', symbol: 'symbol', words: ({ symbol }) => titleIn(graph, symbol) },
      ...{ share: 'share', lift: 'lift', 'weight in bits': 'weight' },
    },
  );
