import { css, symbolTones } from '@hidden-schema/studies/drawing';
import { useMemo } from 'preact/hooks';
import type { Graph } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { percent, title } from '../labels.ts';
import { EditBar } from '../levels/edit-bar.tsx';
import { latest, useLoaded } from '../loading.ts';
import { Dot, Empty, Waiting } from '../parts.tsx';
import { symbolCounts } from '../texts/filter.ts';
import type { Texts } from '../texts/use-texts.ts';
import type { PanelProps } from './panel.ts';

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
export function Themes(props: PanelProps) {
  const { client, graph, run, texts, edits } = props;
  const awaited = run.opened?.features.includes('map') === true && !texts && props.textsFailure === null;
  const themes = useMemo(
    () => (graph && !awaited ? rankThemes(graph, texts) : []),
    [graph, texts?.data, awaited],
  );
  const main = themes.slice(0, MAIN);
  const isOld = graph?.identity === edits.outdated;
  const key =
    main.length === 0 || isOld ? null : `${run.id} ${graph!.identity} ${main.map(({ node }) => node.symbol)}`;
  const loaded = useLoaded(key, async (signal) => {
    const facts = await Promise.all(main.map(({ node }) => client.symbol(node.symbol, signal)));
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
      <EditBar edits={edits} />
      <TableHead name="symbols" rows={() => themeRows(themes)}>
        {main.length === themes.length ? 'All themes' : `The ${main.length} main themes`}
      </TableHead>
      <MainThemes {...props} {...{ main, graph }} examples={latest(loaded)} />
      <Others {...props} themes={themes.slice(MAIN)} />
    </>
  );
}

interface MainProps extends PanelProps {
  main: readonly Theme[];
  graph: Graph;
  examples: ReadonlyMap<number, string> | null;
}

function MainThemes({ main, graph, examples, texts, goTo }: MainProps) {
  const tones = useMemo(() => symbolTones(graph.nodes.map(({ community }) => community)), [graph.nodes]);
  const most = main[0]?.share || 1;
  return (
    <ol class="themes">
      {main.map(({ node, share }) => (
        <li key={node.symbol} data-symbol={node.symbol}>
          <button type="button" class="theme-name" onClick={() => goTo(node.symbol)}>
            <Dot colour={css(tones[node.symbol]!)} />
            <b>{title(node)}</b>
            <span class="track" aria-hidden="true">
              <span style={{ width: `${(100 * share) / most}%` }} />
            </span>
            <span class="number faint">
              {percent(share)} of {texts ? 'texts' : 'steps'}
            </span>
          </button>
          <p class="theme-example">{shortened(examples?.get(node.symbol) ?? '')}</p>
        </li>
      ))}
    </ol>
  );
}

const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s+\S*$/u, '')} …` : text;

function Others({ themes, goTo }: PanelProps & { themes: readonly Theme[] }) {
  if (themes.length === 0) return null;
  return (
    <details class="others">
      <summary>{themes.length} more themes</summary>
      <p class="chips">
        {themes.map(({ node, share }) => (
          <button key={node.symbol} type="button" onClick={() => goTo(node.symbol)}>
            {title(node)} <span class="faint number">{percent(share)}</span>
          </button>
        ))}
      </p>
    </details>
  );
}

const themeRows = (themes: readonly Theme[]) => [
  ['symbol', 'name', 'words', 'share', 'usage', 'community'],
  ...themes.map(({ node: { symbol, name, tokens, usage, community }, share }) => [
    ...[symbol, name, tokens.join(' '), share],
    ...[usage, community],
  ]),
];
