import type { Graph } from '../client.ts';
import { csv } from '../csv.ts';
import { download } from '../download.ts';
import { labelOf } from '../labels.ts';
import type { Change, ViewState } from '../state.ts';
import { sceneSvg } from './plain-view.ts';
import type { DrawnLink, Scene } from './scene.ts';

interface ControlProps {
  view: ViewState;
  change: Change;
  links: readonly DrawnLink[];
  scene: Scene;
  onReset(): void;
}

export function Controls({ view, change, links, scene, onReset }: ControlProps) {
  return (
    <div class="controls">
      <Threshold least={scene.graph.leastProbability} value={view.threshold} change={change} />
      {scene.graph.truth ? (
        <label class="check">
          <input
            type="checkbox"
            checked={view.truth}
            onChange={(event) => change({ truth: event.currentTarget.checked })}
          />
          Compare with the truth
        </label>
      ) : null}
      <span class="buttons">
        <button type="button" onClick={onReset}>
          Show all
        </button>
        <button type="button" onClick={() => saveSvg(scene, links)} title="Download the picture">
          SVG
        </button>
        <button type="button" onClick={() => saveCsv(scene.graph)} title="Download the links">
          CSV
        </button>
      </span>
    </div>
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

const saveSvg = (scene: Scene, links: readonly DrawnLink[]) =>
  download('graph.svg', 'image/svg+xml', sceneSvg(scene, links));

function saveCsv({ links, nodes }: Graph): void {
  const rows = links.map(([i, j, p]) => [i, labelOf(nodes[i]!), j, labelOf(nodes[j]!), p]);
  download('links.csv', 'text/csv', csv([['i', 'symbol i', 'j', 'symbol j', 'probability'], ...rows]));
}
