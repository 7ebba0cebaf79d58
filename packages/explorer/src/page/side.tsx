import { offeredPlaces } from './panels/index.ts';
import { type Place, usePanel } from './panels/panel.ts';
import { Press } from './parts.tsx';

/** The places beside the picture, one at a time. */
export function Side() {
  const { run, view, change } = usePanel();
  const places = offeredPlaces(run.opened?.features ?? []);
  const place = places.find(({ panels }) => panels.some(({ id }) => id === view.panel)) ?? places[0]!;
  const current = place.panels.find(({ id }) => id === view.panel) ?? place.panels[0]!;
  const tab = ({ title }: Place) => `place-${title.toLowerCase()}`;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    const next = places[(places.indexOf(place) + by + places.length) % places.length]!;
    change({ panel: next.panels[0]!.id });
    document.getElementById(tab(next))?.focus();
  };
  return (
    <aside>
      <div class="tabs" role="tablist" aria-label="Places" onKeyDown={onKeyDown}>
        {places.map((one) => (
          <Press
            key={one.title}
            role="tab"
            id={tab(one)}
            aria-selected={one === place}
            aria-controls="panel"
            tabIndex={one === place ? 0 : -1}
            onClick={() => change({ panel: one.panels[0]!.id })}
          >
            {one.title}
          </Press>
        ))}
      </div>
      {place.panels.length > 1 ? <Within place={place} current={current.id} /> : null}
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={tab(place)}>
        <h2 class="unseen">{current.title}</h2>
        <current.Body key={current.id} />
      </div>
    </aside>
  );
}

/** What a place shows, where that is more than one thing. */
function Within({ place, current }: { place: Place; current: string }) {
  const { change } = usePanel();
  return (
    <nav class="segments sub" aria-label={place.title}>
      {place.panels.map(({ id, title }) => (
        <Press key={id} id={`tab-${id}`} aria-pressed={id === current} onClick={() => change({ panel: id })}>
          {title}
        </Press>
      ))}
    </nav>
  );
}
