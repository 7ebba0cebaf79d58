import type { Labels } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { colourOf } from '../graph/label-maps.ts';
import { HeatMap } from '../heat-map.tsx';
import { decimal, percent, titleIn } from '../labels.ts';
import { Dot, SymbolLink, Waiting } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

const FEW = 6;
/** Smaller divergences than this are not drawn as if they were large. */
const LEAST_FULL = 0.2;

/** How labels differ: the symbols that speak for each, and how far apart their distributions are. */
export function LabelsPanel(props: PanelProps) {
  const { labels, dark } = props;
  if (!labels) return <Waiting what="Counting labels …" />;
  const names = labels.maps.map(({ label }) => label);
  return (
    <section class="labels" aria-label="Labels">
      <p class="faint">
        Walks of {labels.encoded.toLocaleString('en')} sentences. A label’s map shows on which symbols its
        walks are, and which links they take.
      </p>
      <Presets {...props} labels={labels} />
      <HeatMap
        name="divergence"
        caption="Jensen–Shannon divergence of symbols, bits"
        dark={dark}
        rows={names}
        columns={names}
        values={labels.divergence}
        most={Math.max(LEAST_FULL, ...labels.divergence.flat())}
        written
      />
      <TableHead name="typical-symbols" rows={() => typicalRows(props, labels)}>
        Symbols that speak for each label
      </TableHead>
      {labels.maps.map((map) => (
        <Typical key={map.label} {...props} labels={labels} map={map} />
      ))}
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
        onClick={() => change({ maps: view.maps.length === 2 ? [] : both })}
      >
        {view.maps.length === 2 ? 'Back to one graph' : 'Compare side by side'}
      </button>
      <button
        type="button"
        aria-pressed={view.colour === 'label'}
        onClick={() => change({ colour: view.colour === 'label' ? 'community' : 'label', maps: [] })}
      >
        Colour symbols by {view.colour === 'label' ? 'community' : 'label'}
      </button>
    </p>
  );
}

type TypicalProps = PanelProps & { labels: Labels; map: Labels['maps'][number] };

function LabelHead({ map, labels, change, view }: TypicalProps) {
  const shown = view.maps.includes(map.label);
  const toggle = () => change({ maps: shown ? view.maps.filter((name) => name !== map.label) : [map.label] });
  return (
    <h4>
      <Dot colour={colourOf(labels, map.label)} />
      {map.label} <span class="faint">{map.sentences.toLocaleString('en')} sentences</span>
      <button type="button" class="plain" onClick={toggle}>
        {shown ? 'hide its map' : 'show its map'}
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
            <th>Symbol</th>
            <th>Share of steps</th>
            <th title="times its share among all sentences">Lift</th>
          </tr>
        </thead>
        <tbody>
          {map.typical.slice(0, FEW).map(({ symbol, share, lift }) => (
            <tr key={symbol}>
              <td>
                <SymbolLink symbol={symbol} label={titleIn(graph, symbol)} onChoose={goTo} />
              </td>
              <td class="number">{percent(share)}</td>
              <td class="number">{decimal(lift)}</td>
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
