import { useState } from 'preact/hooks';
import type { Labels } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { colourOf } from '../graph/label-maps.ts';
import { HeatMap } from '../heat-map.tsx';
import { percent, titleIn } from '../labels.ts';
import { Dot, SymbolLink, Waiting } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

const FEW = 5;
const FEW_LABELS = 12;
/** Labels whose differences are written as numbers; of more they would not be read. */
const MOST_WRITTEN = 12;
/** Smaller divergences than this are not drawn as if they were large. */
const LEAST_FULL = 0.2;

/** How labels differ: the symbols that speak for each, and how far apart their distributions are. */
export function LabelsPanel(props: PanelProps) {
  const { labels, dark } = props;
  const [all, setAll] = useState(false);
  if (!labels) return <Waiting what="Counting labels …" />;
  const names = labels.maps.map(({ label }) => label);
  return (
    <section class="labels" aria-label="Labels">
      <p class="faint">
        The themes that texts of each label have more of than all {labels.encoded.toLocaleString('en')} texts.
      </p>
      <Presets {...props} labels={labels} />
      <TableHead name="typical-symbols" rows={() => typicalRows(props, labels)}>
        Typical themes
      </TableHead>
      {labels.maps.slice(0, all ? undefined : FEW_LABELS).map((map) => (
        <Typical key={map.label} {...props} labels={labels} map={map} />
      ))}
      {labels.maps.length > FEW_LABELS && !all ? (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          {labels.maps.length - FEW_LABELS} more labels
        </button>
      ) : null}
      <details class="fold">
        <summary>How far labels are apart</summary>
        <HeatMap
          name="divergence"
          caption="Jensen–Shannon divergence of themes, bits: 0 for alike"
          dark={dark}
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

/** One press for the paper's figure: two labels on one layout. */
function Presets({ labels, view, change }: PanelProps & { labels: Labels }) {
  const names = labels.maps.map(({ label }) => label);
  const both = names.slice(0, 2);
  return (
    <p class="buttons">
      <button
        type="button"
        aria-pressed={view.maps.length === 2}
        disabled={both.length < 2}
        onClick={() =>
          change(view.maps.length === 2 ? { maps: [], show: 'both' } : { maps: both, show: 'graph' })
        }
      >
        {view.maps.length === 2 ? 'Back to one network' : 'Two labels side by side'}
      </button>
      <button
        type="button"
        aria-pressed={view.colour === 'label'}
        onClick={() => change({ colour: view.colour === 'label' ? 'community' : 'label', maps: [] })}
      >
        Colour by {view.colour === 'label' ? 'theme' : 'label'}
      </button>
    </p>
  );
}

type TypicalProps = PanelProps & { labels: Labels; map: Labels['maps'][number] };

function LabelHead({ map, labels, change, view }: TypicalProps) {
  const shown = view.label.includes(map.label);
  const toggle = () => change({ label: shown ? [] : [map.label] });
  return (
    <h4>
      <Dot colour={colourOf(labels, map.label)} square />
      {map.label} <span class="faint">{map.sentences.toLocaleString('en')} texts</span>
      <button type="button" class="plain" onClick={toggle}>
        {shown ? 'show all texts' : 'show its texts'}
      </button>
    </h4>
  );
}

function Typical(props: TypicalProps) {
  const { map, graph, goTo } = props;
  return (
    <>
      <LabelHead {...props} />
      <table data-label={map.label}>
        <thead>
          <tr>
            <th>Theme</th>
            <th>Share of steps</th>
            <th>Times the usual</th>
          </tr>
        </thead>
        <tbody>
          {map.typical.slice(0, FEW).map(({ symbol, share, lift }) => (
            <tr key={symbol}>
              <td>
                <SymbolLink symbol={symbol} label={titleIn(graph, symbol)} onChoose={goTo} />
              </td>
              <td class="number">{percent(share)}</td>
              <td class="number">{lift.toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function typicalRows({ graph }: PanelProps, { maps }: Labels) {
  const rows = maps.flatMap(({ label, typical }) =>
    typical.map(({ symbol, share, lift, weight }) => {
      return [label, symbol, titleIn(graph, symbol), share, lift, weight];
    }),
  );
  return [['label', 'symbol', 'words', 'share', 'lift', 'weight in bits'], ...rows];
}
