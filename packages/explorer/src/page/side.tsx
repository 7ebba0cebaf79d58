import { useEffect, useRef } from 'preact/hooks';
import { panels } from './panels/index.ts';
import type { Panel, PanelProps } from './panels/panel.ts';

/** The panels beside the graph, one at a time. */
export function Side(props: PanelProps) {
  const { run, view, change } = props;
  const features = run.opened?.features ?? [];
  const offered = panels.filter(({ feature }) => feature === undefined || features.includes(feature));
  const current = offered.find(({ id }) => id === view.panel) ?? offered[0]!;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    const next = offered[(offered.indexOf(current) + by + offered.length) % offered.length]!;
    change({ panel: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <aside>
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={onKeyDown}>
        {offered.map((panel) => (
          <Tab
            key={panel.id}
            panel={panel}
            chosen={panel === current}
            onChoose={() => change({ panel: panel.id })}
          />
        ))}
      </div>
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${current.id}`}>
        <current.Body key={current.id} {...props} />
      </div>
    </aside>
  );
}

function Tab({ panel, chosen, onChoose }: { panel: Panel; chosen: boolean; onChoose(): void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (chosen) button.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  return (
    <button
      ref={button}
      type="button"
      role="tab"
      id={`tab-${panel.id}`}
      aria-selected={chosen}
      aria-controls="panel"
      tabIndex={chosen ? 0 : -1}
      onClick={onChoose}
    >
      {panel.title}
    </button>
  );
}
