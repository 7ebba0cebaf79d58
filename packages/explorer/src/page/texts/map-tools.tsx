import type { Change } from '../state.ts';
import type { Tool } from './map-pointer.ts';
import { NOTHING_ASKED, type Texts } from './use-texts.ts';

interface MapToolProps {
  tool: Tool;
  setTool(tool: Tool): void;
  texts: Texts;
  change: Change;
  onReset(): void;
}

const TOOLS: readonly { tool: Tool; name: string; about: string }[] = [
  { tool: 'move', name: 'Move', about: 'Drag to move, scroll to zoom; with Shift, draw a box' },
  { tool: 'lasso', name: 'Lasso', about: 'Draw around texts to see these alone' },
  { tool: 'box', name: 'Box', about: 'Draw a box around texts to see these alone' },
];

/** How many texts are selected, a way back to all, and what dragging on the map does. */
export const MapTools = ({ tool, setTool, texts, change, onReset }: MapToolProps) => (
  <div class="map-tools">
    <p class="counts" role="status">
      {texts.active ? (
        <>
          <b>{texts.count.toLocaleString('en')}</b> of {texts.data.count.toLocaleString('en')} texts{' '}
          <button type="button" class="plain" onClick={() => change(NOTHING_ASKED)}>
            Clear
          </button>
        </>
      ) : (
        <>
          <b>{texts.data.count.toLocaleString('en')}</b> texts · <b>{texts.data.symbols}</b> themes
        </>
      )}
    </p>
    <fieldset class="segments" aria-label="What dragging on the map does">
      {TOOLS.map(({ tool: each, name, about }) => (
        <button
          key={each}
          type="button"
          title={about}
          aria-pressed={tool === each}
          onClick={() => setTool(each)}
        >
          {name}
        </button>
      ))}
      <button type="button" title="Show the whole map" onClick={onReset}>
        All
      </button>
    </fieldset>
  </div>
);
