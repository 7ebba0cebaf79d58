import { percent, title } from '../labels.ts';
import { EditBar } from '../levels/edit-bar.tsx';
import { Bar, SymbolLink, Waiting } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

/** Counts that are a press away. */
const PRESETS = [5, 10, 20];

/** Symbols at a coarser level: groups of them, and a press that makes a group one symbol for good. */
export function LevelsPanel(props: PanelProps) {
  const { graph, run, grouping, view, change, edits } = props;
  const symbols = run.opened?.symbols ?? 0;
  if (!graph) return <Waiting what="Opening the run …" />;
  const presets = PRESETS.filter((count) => count < symbols);
  return (
    <section class="levels" aria-label="Levels">
      <EditBar edits={edits} />
      <p class="faint">
        Like themes joined into groups. Looking changes nothing. A group can be merged into one theme; Undo
        takes that back.
      </p>
      <p class="buttons">
        {presets.map((count) => (
          <button
            key={count}
            type="button"
            aria-pressed={view.level === count}
            onClick={() => change({ level: count })}
          >
            {count} groups
          </button>
        ))}
        <button type="button" aria-pressed={grouping === null} onClick={() => change({ level: 0 })}>
          All {symbols} themes
        </button>
      </p>
      {grouping ? (
        <Groups {...props} grouping={grouping} />
      ) : view.level >= 2 && view.level < symbols ? (
        <Waiting what="Joining themes …" />
      ) : null}
    </section>
  );
}

type GroupsProps = PanelProps & { grouping: NonNullable<PanelProps['grouping']> };

function Groups({ grouping, graph, view, change, goTo, edits }: GroupsProps) {
  const chosen = (symbols: readonly number[]) => symbols.join() === view.only.join();
  const most = grouping.level.groups[0]?.share || 1;
  return (
    <>
      <h3 class="unseen">Groups</h3>
      <ul class="groups">
        {grouping.level.groups.map(({ group, symbols, name, words, share }) => (
          <li key={group} class={chosen(symbols) ? 'current' : ''} data-group={group}>
            <h4>
              <button
                type="button"
                class="plain"
                aria-pressed={chosen(symbols)}
                onClick={() => change({ only: chosen(symbols) ? [] : symbols })}
              >
                {name}
              </button>
              <Bar of={share} most={most} />
            </h4>
            <p class="faint words">{words.join(' ')}</p>
            {chosen(symbols) ? <Members {...{ symbols, grouping, graph, change, goTo, edits }} /> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

type MembersProps = Pick<GroupsProps, 'grouping' | 'graph' | 'change' | 'goTo' | 'edits'> & {
  symbols: readonly number[];
};

/** The symbols of a group, each a way to itself, and a press that makes them one. */
function Members({ symbols, grouping, graph, change, goTo, edits }: MembersProps) {
  const choose = (symbol: number) => {
    change({ level: 0, only: [] });
    goTo(symbol);
  };
  return (
    <>
      {symbols.map((symbol) => {
        const node = graph?.nodes[symbol];
        return (
          <p key={symbol} class="member">
            <SymbolLink symbol={symbol} label={node ? title(node) : ''} onChoose={choose} />
            <span class="number faint">{percent(node?.usage ?? 0)} of steps</span>
          </p>
        );
      })}
      {symbols.length > 1 ? (
        <button
          type="button"
          disabled={edits.busy !== null}
          onClick={() => void edits.merge(symbols, grouping.identity)}
        >
          Merge these {symbols.length} into one theme
        </button>
      ) : null}
    </>
  );
}
