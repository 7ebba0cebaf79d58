import { usePanel } from '../panels/panel.ts';
import { Press, Segments, ThemeCount } from '../parts.tsx';
import type { Tool } from './map-pointer.ts';
import { NOTHING_ASKED, type Texts } from './use-texts.ts';

interface MapToolProps {
  tool: Tool;
  setTool(tool: Tool): void;
  texts: Texts;
}

const TOOLS: readonly { value: Tool; name: string; about: string }[] = [
  { value: 'move', name: 'Move', about: 'Drag to move, scroll to zoom; with Shift, draw a box' },
  { value: 'lasso', name: 'Lasso', about: 'Draw around texts to see these alone' },
  { value: 'box', name: 'Box', about: 'Draw a box around texts to see these alone' },
];

/** How many texts are selected, a way back to all, and what dragging on the map does. */
export function MapTools({ tool, setTool, texts }: MapToolProps) {
  const { change } = usePanel();
  return (
    <div class="map-tools">
      <p class="counts" role="status">
        {texts.active ? (
          <>
            <b>{texts.count.toLocaleString('en')}</b> of {texts.data.count.toLocaleString('en')} texts{' '}
            <Press class="plain" onClick={() => change(NOTHING_ASKED)}>
              Clear
            </Press>
          </>
        ) : (
          <>
            <b>{texts.data.count.toLocaleString('en')}</b> texts · <ThemeCount of={texts.data.symbols} />
          </>
        )}
      </p>
      <Segments label="What dragging on the map does" of={TOOLS} value={tool} onChoose={setTool}>
        <Press title="Show the whole map" onClick={() => change({ mapat: null })}>
          All
        </Press>
      </Segments>
    </div>
  );
}
