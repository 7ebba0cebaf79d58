import type { Graph, Labels } from '../client.ts';
import { Downloads } from '../downloads.tsx';
import { labelOf } from '../labels.ts';
import type { Change, ViewState } from '../state.ts';
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
  /** K, where symbols can be drawn as groups. */
  symbols: number | null;
  onReset(): void;
}

export function Controls({ view, change, links, labels, scenes, shown, symbols, onReset }: ControlProps) {
  const { graph } = scenes[0]!;
  return (
    <div class="controls">
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
          Compare with the truth
        </label>
      ) : null}
      {labels ? <LabelControls {...{ view, change, labels }} /> : null}
      <span class="buttons">
        <button type="button" onClick={onReset}>
          Show all
        </button>
        <Downloads name="graph" svg={() => sceneSvg(scenes, links)} rows={() => linkRows(graph)} />
      </span>
    </div>
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
      Level
      <input
        type="range"
        min="2"
        max={symbols}
        step="1"
        value={level}
        aria-label="How many groups symbols are drawn as"
        aria-valuetext={level === symbols ? `each of ${symbols} symbols` : `${level} groups`}
        onInput={(event) => {
          const asked = Number(event.currentTarget.value);
          change({ level: asked === symbols ? 0 : asked });
        }}
      />
      <output>{level === symbols ? 'all' : level}</output>
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

function LabelControls({ view, change, labels }: LabelProps) {
  const names = labels.maps.map(({ label }) => label);
  const [first = '', second = ''] = view.maps;
  const setMaps = (...chosen: string[]) => change({ maps: chosen.filter((name) => name !== '') });
  return (
    <>
      <label class="choice">
        Colour
        <select
          aria-label="Colour of symbols"
          value={view.colour}
          onChange={(event) => change({ colour: event.currentTarget.value as ViewState['colour'] })}
        >
          <option value="community">community</option>
          <option value="label">label</option>
        </select>
      </label>
      <span class="choice">
        Map
        <Names
          label="Label whose map is drawn"
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
    <option value="">none</option>
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
