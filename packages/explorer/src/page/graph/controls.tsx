import type { Graph, Labels } from '../client.ts';
import { Downloads } from '../figure.tsx';
import { labelOf } from '../labels.ts';
import { useNarrow } from '../media.ts';
import { usePanel } from '../panels/panel.ts';
import { Choice, type Option, Press, Segments } from '../parts.tsx';
import type { ViewState } from '../state.ts';
import { mapSvg } from '../texts/map-svg.ts';
import type { Texts } from '../texts/use-texts.ts';
import type { DrawnLink, Scene } from './scene.ts';
import { sceneSvg } from './scene-svg.ts';

interface ControlProps {
  links: readonly DrawnLink[];
  labels: Labels | null;
  scenes: readonly Scene[];
  /** What is drawn; null where there are no texts beside the graph. */
  shown: ViewState['show'] | null;
  /** The texts, where their map is drawn. */
  texts: Texts | null;
  /** Whether symbols can be drawn as groups. */
  levelled: boolean;
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

function AllControls({ links, labels, scenes, shown, levelled, texts }: ControlProps) {
  const { view, change } = usePanel();
  const { graph, dark } = scenes[0]!;
  const picture = () =>
    texts ? mapSvg({ graph, data: texts.data, dark, networked: shown === 'both' }) : sceneSvg(scenes, links);
  return (
    <>
      {shown === null ? null : (
        <Segments label="What is drawn" of={SHOWN} value={shown} onChoose={(show) => change({ show })} />
      )}
      {levelled ? <Level /> : null}
      {view.truth && graph.truth ? <Threshold least={graph.leastProbability} /> : null}
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
      {labels ? (
        <Choice
          {...{ label: 'Colour by', value: view.colour, options: COLOURS }}
          onChoose={(colour: ViewState['colour']) => change({ colour })}
        />
      ) : null}
      {labels && !texts ? <LabelMaps labels={labels} /> : null}
      <span class="buttons">
        {texts ? null : <Press onClick={() => change({ graphat: null })}>Show all</Press>}
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
function Level() {
  const { graph, view, change } = usePanel();
  const symbols = graph?.nodes.length ?? 0;
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

function Threshold({ least }: { least: number }) {
  const { view, change } = usePanel();
  return (
    <label class="slider">
      Links from
      <input
        type="range"
        min={least}
        max="1"
        step="0.01"
        value={view.threshold}
        aria-label="Least probability of a link"
        onInput={(event) => change({ threshold: Number(event.currentTarget.value) })}
      />
      <output>{view.threshold.toFixed(2)}</output>
    </label>
  );
}

const COLOURS: Option[] = [
  ['community', 'theme'],
  ['label', 'label'],
];

/** On the network alone: where texts of one label go, or of two side by side. */
function LabelMaps({ labels }: { labels: Labels }) {
  const { view, change } = usePanel();
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
