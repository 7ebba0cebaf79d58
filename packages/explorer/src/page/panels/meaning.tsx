import type { ComponentProps } from 'preact';
import type { SymbolFacts } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { colourOf } from '../graph/label-maps.ts';
import { percent } from '../labels.ts';
import { Bar } from '../parts.tsx';
import { csvOf, DataTable } from '../tables.tsx';
import { usePanel } from './panel.ts';

/** What a symbol emits, or the words that speak for it and attend to it. */
export const Meaning = ({ symbol: { symbol, tokens, words, attended } }: { symbol: SymbolFacts }) => (
  <>
    {tokens.length > 0 ? (
      <Chips
        name={`tokens-${symbol}`}
        rows={csvOf(tokens, { token: 'token', probability: 'probability' })}
        of={tokens.map(({ token, probability }) => ({ text: token, note: percent(probability) }))}
      >
        Tokens
      </Chips>
    ) : (
      <Chips
        name={`words-${symbol}`}
        rows={csvOf(words, { word: 'word', 'pmi in bits': 'pmi', sentences: 'count' })}
        of={words.map(({ word }) => ({ text: word }))}
      >
        Its words
      </Chips>
    )}
    {attended.length > 0 ? (
      <Chips
        name={`attended-${symbol}`}
        rows={csvOf(attended, { word: 'word', share: 'share', count: 'count' })}
        of={attended.map(({ word, share }) => ({ text: word, note: percent(share) }))}
      >
        Words that attend to it <span class="hint">mean share of attention</span>
      </Chips>
    ) : null}
  </>
);

type ChipsProps = ComponentProps<typeof TableHead> & { of: readonly { text: string; note?: string }[] };

/** Words under their heading, each with a note where there is one. */
const Chips = ({ of, ...head }: ChipsProps) => (
  <>
    <TableHead {...head} />
    {of.length === 0 ? <p class="faint">None: no text that was read passes here.</p> : null}
    <ul class="tokens">
      {of.map(({ text, note }) => (
        <li key={text}>
          {text}
          {note === undefined ? null : <span class="faint number"> {note}</span>}
        </li>
      ))}
    </ul>
  </>
);

/** How often a label is among a theme's texts, beside its share of all texts. */
const times = (lift: number): string =>
  lift >= 1.15
    ? `${lift.toFixed(1)} times the usual`
    : lift <= 0.87
      ? `${percent(lift)} of the usual`
      : 'as usual';

/** How the labels of its sentences are shared out. */
export function LabelShares({ symbol }: { symbol: SymbolFacts }) {
  const { labels } = usePanel();
  if (symbol.labels.length === 0) return null;
  const colour = (label: string) => colourOf(labels, label);
  const most = Math.max(...symbol.labels.map(({ share }) => share));
  return (
    <>
      <TableHead
        name={`labels-${symbol.symbol}`}
        rows={csvOf(symbol.labels, { label: 'label', share: 'share', lift: 'lift' })}
      >
        Whose texts these are
      </TableHead>
      <DataTable
        class="label-shares"
        of={symbol.labels}
        rowOf={({ label }) => ({ 'data-label': label })}
        columns={[
          { names: true, cell: ({ label }) => label },
          { cell: ({ label, share }) => <Bar of={share} most={most} colour={colour(label)} /> },
          { class: 'number faint', cell: ({ lift }) => times(lift) },
        ]}
      />
    </>
  );
}
