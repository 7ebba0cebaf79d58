import { css } from '@hidden-schema/studies/drawing';
import { useMemo } from 'preact/hooks';
import { type Graph, openedWith } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { tonesOf } from '../graph/colours.ts';
import { percent, title } from '../labels.ts';
import { EditBar } from '../levels/symbol-edits.tsx';
import { latest, useLoaded } from '../loading.ts';
import { Dot, Empty, Press, Track, Waiting } from '../parts.tsx';
import { csvOf } from '../tables.tsx';
import { symbolCounts } from '../texts/filter.ts';
import type { Texts } from '../texts/use-texts.ts';
import { usePanel } from './panel.ts';
import { shortened } from './sentences.tsx';

const MAIN = 10;
const LONGEST = 220;

interface Theme {
  node: Graph['nodes'][number];
  /** Of all texts those that pass it; of all steps where there are no texts. */
  share: number;
}

/** Symbols by how many texts pass them, or by use where there are no texts; the largest first. */
function rankThemes(graph: Graph, texts: Texts | null): Theme[] {
  const data = texts?.data.symbols === graph.nodes.length ? texts.data : null;
  const counts = data ? symbolCounts(data, new Uint8Array(data.count).fill(1)) : null;
  return graph.nodes
    .map((node) => ({ node, share: counts ? counts[node.symbol]! / data!.count : node.usage }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share || a.node.symbol - b.node.symbol);
}

/** What the texts are about: the ten largest themes with a text each, and the others by name. */
export function Themes() {
  const { client, graph, run, texts, textsFailure, edits } = usePanel();
  const awaited = openedWith(run, 'map') !== null && !texts && textsFailure === null;
  const themes = useMemo(
    () => (graph && !awaited ? rankThemes(graph, texts) : []),
    [graph, texts?.data, awaited],
  );
  const main = themes.slice(0, MAIN);
  const isOld = graph?.identity === edits.outdated;
  const key =
    main.length === 0 || isOld ? null : `${run.id} ${graph!.identity} ${main.map(({ node }) => node.symbol)}`;
  const loaded = useLoaded(key, async (signal) => {
    const facts = await Promise.all(main.map(({ node }) => client.symbol({ k: node.symbol }, signal)));
    return new Map(facts.map(({ symbol, examples }) => [symbol, examples[0]?.text ?? '']));
  });
  if (!graph || awaited)
    return run.problem === null ? (
      <Waiting what="Reading the themes …" />
    ) : (
      <Empty>There are no themes to show.</Empty>
    );
  return (
    <>
      <EditBar />
      <TableHead name="symbols" rows={themeRows(themes)}>
        {main.length === themes.length ? 'All themes' : `The ${main.length} main themes`}
      </TableHead>
      <MainThemes {...{ main, graph }} examples={latest(loaded)} />
      <Others themes={themes.slice(MAIN)} />
    </>
  );
}

interface MainProps {
  main: readonly Theme[];
  graph: Graph;
  examples: ReadonlyMap<number, string> | null;
}

function MainThemes({ main, graph, examples }: MainProps) {
  const { texts, goTo, dark } = usePanel();
  const tones = useMemo(() => tonesOf(graph.nodes, dark), [graph.nodes, dark]);
  const most = main[0]?.share || 1;
  return (
    <ol class="themes">
      {main.map(({ node, share }) => (
        <li key={node.symbol} data-symbol={node.symbol}>
          <Press class="theme-name" onClick={() => goTo(node.symbol)}>
            <Dot colour={css(tones[node.symbol]!)} />
            <b>{title(node)}</b>
            <Track of={share} most={most} />
            <span class="number faint">
              {percent(share)} of {texts ? 'texts' : 'steps'}
            </span>
          </Press>
          <p class="theme-example">{shortened(examples?.get(node.symbol) ?? '', LONGEST)}</p>
        </li>
      ))}
    </ol>
  );
}

function Others({ themes }: { themes: readonly Theme[] }) {
  const { goTo } = usePanel();
  if (themes.length === 0) return null;
  return (
    <details class="others">
      <summary>{themes.length} more themes</summary>
      <p class="chips">
        {themes.map(({ node, share }) => (
          <Press key={node.symbol} onClick={() => goTo(node.symbol)}>
            {title(node)} <span class="faint number">{percent(share)}</span>
          </Press>
        ))}
      </p>
    </details>
  );
}

const themeRows = (themes: readonly Theme[]) =>
  csvOf(
    themes.map(({ node, share }) => ({ ...node, share })),
    {
      ...{ symbol: 'symbol', name: 'name', words: ({ tokens }) => tokens.join(' ') },
      ...{ share: 'share', usage: 'usage', community: 'community' },
    },
  );
