import type { Graph, Labels } from '../client.ts';
import { Downloads } from '../figure.tsx';
import { labelOf } from '../labels.ts';
import { useNarrow } from '../media.ts';
import { Choice, type Option, Press, Segments } from '../parts.tsx';
import type { Change, ViewState } from '../state.ts';
import { mapSvg } from '../texts/map-svg.ts';
import type { Texts } from '../texts/use-texts.ts';
import type { DrawnLink, Scene } from './scene.ts';
import { sceneSvg } from './scene-svg.ts';

interface ControlProps {
  view: ViewState;
  change: Change;
  links: readonly DrawnLink[];
  labels: Labels | null;
  scenes: readonly Scene[];
  /** What is drawn; null where there are no texts beside the graph. */
  shown: ViewState['show'] | null;
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
      {shown === null ? null : (
        <Segments label="What is drawn" of={SHOWN} value={shown} onChoose={(show) => change({ show })} />
      )}
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
        {texts ? null : <Press onClick={onReset}>Show all</Press>}
        <Downloads name={texts ? 'map' : 'graph'} svg={picture} rows={() => linkRows(graph)} />
      </span>
    </>
  );
}

const SHOWN: readonly { value: ViewState['show']; name: string }[] = [
  { value: 'both', name: 'Network on map' },
  { value: 'graph', name: 'Network' },
  { value: 'map', name: 'Map' },
];

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
  <Choice
    {...{ label: 'Colour by', value: view.colour, options: COLOURS }}
    onChoose={(colour: ViewState['colour']) => change({ colour })}
  />
);

const COLOURS: Option[] = [
  ['community', 'theme'],
  ['label', 'label'],
];

/** On the network alone: where texts of one label go, or of two side by side. */
function LabelMaps({ view, change, labels }: LabelProps) {
  const options: (string | Option)[] = [['', 'all labels'], ...labels.maps.map(({ label }) => label)];
  const [first = '', second = ''] = view.maps;
  const setMaps = (...chosen: string[]) => change({ maps: chosen.filter((name) => name !== '') });
  const look = { options, unseen: true, class: 'bounded' };
  return (
    <span class="choice">
      <span class="choice">
        Texts of
        <Choice
          {...{ ...look, label: 'Label whose texts are drawn', value: first }}
          onChoose={(name) => setMaps(name, name === '' ? '' : second)}
        />
      </span>
      {first === '' ? null : (
        <span class="choice">
          beside
          <Choice
            {...{ ...look, label: 'Second label, drawn beside', value: second }}
            onChoose={(name) => setMaps(first, name)}
          />
        </span>
      )}
    </span>
  );
}

function linkRows({ links, nodes }: Graph): (string | number)[][] {
  const rows = links.map(([i, j, p]) => [i, labelOf(nodes[i]!), j, labelOf(nodes[j]!), p]);
  return [['i', 'symbol i', 'j', 'symbol j', 'probability'], ...rows];
}
