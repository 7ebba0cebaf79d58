import { percent } from '../labels.ts';
import type { Grouping } from '../levels/grouped.ts';
import { EditBar } from '../levels/symbol-edits.tsx';
import { Bar, Press, SymbolLink, Waiting } from '../parts.tsx';
import { usePanel } from './panel.ts';

/** Counts that are a press away. */
const PRESETS = [5, 10, 20];

/** Symbols at a coarser level: groups of them, and a press that makes a group one symbol for good. */
export function LevelsPanel() {
  const { graph, run, grouping, view, change } = usePanel();
  const symbols = run.opened?.symbols ?? 0;
  if (!graph) return <Waiting what="Opening the run …" />;
  const presets = PRESETS.filter((count) => count < symbols);
  return (
    <section class="levels" aria-label="Levels">
      <EditBar />
      <p class="faint">
        Like themes joined into groups. Looking changes nothing. A group can be merged into one theme; Undo
        takes that back.
      </p>
      <p class="buttons">
        {presets.map((count) => (
          <Press key={count} aria-pressed={view.level === count} onClick={() => change({ level: count })}>
            {count} groups
          </Press>
        ))}
        <Press aria-pressed={grouping === null} onClick={() => change({ level: 0 })}>
          All {symbols} themes
        </Press>
      </p>
      {grouping ? (
        <Groups grouping={grouping} />
      ) : view.level >= 2 && view.level < symbols ? (
        <Waiting what="Joining themes …" />
      ) : null}
    </section>
  );
}

function Groups({ grouping }: { grouping: Grouping }) {
  const { view, change } = usePanel();
  const chosen = (symbols: readonly number[]) => symbols.join() === view.only.join();
  const most = grouping.level.groups[0]?.share || 1;
  return (
    <>
      <h3 class="unseen">Groups</h3>
      <ul class="groups">
        {grouping.level.groups.map(({ group, symbols, name, words, share }) => (
          <li key={group} class={chosen(symbols) ? 'current' : ''} data-group={group}>
            <h4>
              <Press
                class="plain"
                aria-pressed={chosen(symbols)}
                onClick={() => change({ only: chosen(symbols) ? [] : symbols })}
              >
                {name}
              </Press>
              <Bar of={share} most={most} />
            </h4>
            <p class="faint words">{words.join(', ')}</p>
            {chosen(symbols) ? <Members {...{ symbols, grouping }} /> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The symbols of a group, each a way to itself, and a press that makes them one. */
function Members({ symbols, grouping }: { symbols: readonly number[]; grouping: Grouping }) {
  const { graph, change, goTo, edits } = usePanel();
  const choose = (symbol: number) => {
    change({ level: 0, only: [] });
    goTo(symbol);
  };
  return (
    <>
      {symbols.map((symbol) => (
        <p key={symbol} class="member">
          <SymbolLink symbol={symbol} onChoose={choose} />
          <span class="number faint">{percent(graph?.nodes[symbol]?.usage ?? 0)} of steps</span>
        </p>
      ))}
      {symbols.length > 1 ? (
        <Press disabled={edits.busy !== null} onClick={() => void edits.merge(symbols, grouping.identity)}>
          Merge these {symbols.length} into one theme
        </Press>
      ) : null}
    </>
  );
}
