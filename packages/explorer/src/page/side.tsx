import { offeredPlaces } from './panels/index.ts';
import type { PanelProps, Place } from './panels/panel.ts';

/** The places beside the picture, one at a time. */
export function Side(props: PanelProps) {
  const { run, view, change } = props;
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
          <button
            key={one.title}
            type="button"
            role="tab"
            id={tab(one)}
            aria-selected={one === place}
            aria-controls="panel"
            tabIndex={one === place ? 0 : -1}
            onClick={() => change({ panel: one.panels[0]!.id })}
          >
            {one.title}
          </button>
        ))}
      </div>
      {place.panels.length > 1 ? <Within {...{ place, change }} current={current.id} /> : null}
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={tab(place)}>
        <h2 class="unseen">{current.title}</h2>
        <current.Body key={current.id} {...props} />
      </div>
    </aside>
  );
}

type WithinProps = Pick<PanelProps, 'change'> & { place: Place; current: string };

/** What a place shows, where that is more than one thing. */
const Within = ({ place, current, change }: WithinProps) => (
  <nav class="segments sub" aria-label={place.title}>
    {place.panels.map(({ id, title }) => (
      <button
        key={id}
        type="button"
        id={`tab-${id}`}
        aria-pressed={id === current}
        onClick={() => change({ panel: id })}
      >
        {title}
      </button>
    ))}
  </nav>
);
