import type { Graph, Labels } from '../client.ts';
import { Downloads } from '../downloads.tsx';
import { labelOf } from '../labels.ts';
import { useNarrow } from '../narrow.ts';
import type { Change, ViewState } from '../state.ts';
import { mapSvg } from '../texts/map-svg.ts';
import type { Texts } from '../texts/use-texts.ts';
import { sceneSvg } from './plain-view.ts';
import type { DrawnLink, Scene } from './scene.ts';
import type { Shown } from './shown.ts';

interface ControlProps {
  view: ViewState;
  change: Change;
  links: readonly DrawnLink[];
  labels: Labels | null;
  scenes: readonly Scene[];
  /** What is drawn; null where there are no texts beside the graph. */
  shown: Shown | null;
  /** The texts, where their map is drawn. */
  texts: Texts | null;
  /** K, where symbols can be drawn as groups. */
  symbols: number | null;
  onReset(): void;
}

/** What is drawn and how; folded on a phone, so that the picture comes first. */
export function Controls(props: ControlProps) {
  const narrow = useNarrow();
  if (!narrow)
    return (
      <div class="controls">
        <AllControls {...props} />
      </div>
    );
  return (
    <details class="controls-fold">
      <summary>What is drawn</summary>
      <div class="controls">
        <AllControls {...props} />
      </div>
    </details>
  );
}

function AllControls({ view, change, links, labels, scenes, shown, symbols, texts, onReset }: ControlProps) {
  const { graph, dark } = scenes[0]!;
  const picture = () =>
    texts ? mapSvg({ graph, data: texts.data, dark, networked: shown === 'both' }) : sceneSvg(scenes, links);
  return (
    <>
      {shown === null ? null : <ShownChoice shown={shown} change={change} />}
      {symbols === null ? null : <Level {...{ symbols, view, change }} />}
      {view.truth && graph.truth ? (
        <Threshold least={graph.leastProbability} value={view.threshold} change={change} />
      ) : null}
      {graph.truth ? (
        <label class="check">
          <input
            type="checkbox"
            checked={view.truth}
            onChange={(event) => change({ truth: event.currentTarget.checked })}
          />
          Compare with the true graph
        </label>
      ) : null}
      {labels ? <Colours {...{ view, change }} /> : null}
      {labels && !texts ? <LabelMaps {...{ view, change, labels }} /> : null}
      <span class="buttons">
        {texts ? null : (
          <button type="button" onClick={onReset}>
            Show all
          </button>
        )}
        <Downloads name={texts ? 'map' : 'graph'} svg={picture} rows={() => linkRows(graph)} />
      </span>
    </>
  );
}

const SHOWN: readonly { shown: Shown; name: string }[] = [
  { shown: 'both', name: 'Network on map' },
  { shown: 'graph', name: 'Network' },
  { shown: 'map', name: 'Map' },
];

const ShownChoice = ({ shown, change }: { shown: Shown; change: Change }) => (
  <fieldset class="segments" aria-label="What is drawn">
    {SHOWN.map(({ shown: each, name }) => (
      <button key={each} type="button" aria-pressed={shown === each} onClick={() => change({ show: each })}>
        {name}
      </button>
    ))}
  </fieldset>
);

/** From few groups on the left to every symbol on the right. */
function Level({ symbols, view, change }: Pick<ControlProps, 'view' | 'change'> & { symbols: number }) {
  const level = view.level >= 2 && view.level < symbols ? view.level : symbols;
  return (
    <label class="slider">
      Themes
      <input
        type="range"
        min="2"
        max={symbols}
        step="1"
        value={level}
        aria-label="How many groups themes are drawn as"
        aria-valuetext={level === symbols ? `each of ${symbols} themes` : `${level} groups`}
        onInput={(event) => {
          const asked = Number(event.currentTarget.value);
          change({ level: asked === symbols ? 0 : asked });
        }}
      />
      <output>{level === symbols ? `all ${symbols}` : `${level} groups`}</output>
    </label>
  );
}

const Threshold = ({ least, value, change }: { least: number; value: number; change: Change }) => (
  <label class="slider">
    Links from
    <input
      type="range"
      min={least}
      max="1"
      step="0.01"
      value={value}
      aria-label="Least probability of a link"
      onInput={(event) => change({ threshold: Number(event.currentTarget.value) })}
    />
    <output>{value.toFixed(2)}</output>
  </label>
);

type LabelProps = Pick<ControlProps, 'view' | 'change'> & { labels: Labels };

const Colours = ({ view, change }: Pick<ControlProps, 'view' | 'change'>) => (
  <label class="choice">
    Colour by
    <select
      value={view.colour}
      onChange={(event) => change({ colour: event.currentTarget.value as ViewState['colour'] })}
    >
      <option value="community">theme</option>
      <option value="label">label</option>
    </select>
  </label>
);

/** On the network alone: where texts of one label go, or of two side by side. */
function LabelMaps({ view, change, labels }: LabelProps) {
  const names = labels.maps.map(({ label }) => label);
  const [first = '', second = ''] = view.maps;
  const setMaps = (...chosen: string[]) => change({ maps: chosen.filter((name) => name !== '') });
  return (
    <>
      <span class="choice">
        Texts of
        <Names
          label="Label whose texts are drawn"
          {...{ names, value: first }}
          onChange={(name) => setMaps(name, name === '' ? '' : second)}
        />
      </span>
      {first === '' ? null : (
        <span class="choice">
          beside
          <Names
            label="Second label, drawn beside"
            {...{ names, value: second }}
            onChange={(name) => setMaps(first, name)}
          />
        </span>
      )}
    </>
  );
}

interface NamesProps {
  label: string;
  names: readonly string[];
  value: string;
  onChange(name: string): void;
}

const Names = ({ label, names, value, onChange }: NamesProps) => (
  <select
    class="bounded"
    aria-label={label}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  >
    <option value="">all labels</option>
    {names.map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </select>
);

function linkRows({ links, nodes }: Graph): (string | number)[][] {
  const rows = links.map(([i, j, p]) => [i, labelOf(nodes[i]!), j, labelOf(nodes[j]!), p]);
  return [['i', 'symbol i', 'j', 'symbol j', 'probability'], ...rows];
}
