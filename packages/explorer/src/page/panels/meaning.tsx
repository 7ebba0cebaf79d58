import type { Labels, SymbolFacts } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { labelColour } from '../graph/colours.ts';
import { percent } from '../labels.ts';

/** What a symbol emits, or the words that speak for it and attend to it. */
export const Meaning = ({ symbol }: { symbol: SymbolFacts }) => (
  <>
    {symbol.tokens.length > 0 ? <Tokens {...symbol} /> : <Words {...symbol} />}
    {symbol.attended.length > 0 ? <Attended {...symbol} /> : null}
  </>
);

function Tokens({ tokens, symbol }: SymbolFacts) {
  const rows = () => [
    ['token', 'probability'],
    ...tokens.map(({ token, probability }) => [token, probability]),
  ];
  return (
    <>
      <TableHead name={`tokens-${symbol}`} rows={rows}>
        Tokens
      </TableHead>
      <Chips of={tokens.map(({ token, probability }) => ({ text: token, note: percent(probability) }))} />
    </>
  );
}

function Words({ words, symbol }: SymbolFacts) {
  const rows = () => [
    ['word', 'pmi in bits', 'sentences'],
    ...words.map(({ word, pmi, count }) => [word, pmi, count]),
  ];
  return (
    <>
      <TableHead name={`words-${symbol}`} rows={rows}>
        Its words
      </TableHead>
      <Chips of={words.map(({ word }) => ({ text: word }))} />
    </>
  );
}

function Attended({ attended, symbol }: SymbolFacts) {
  const rows = () => [
    ['word', 'share', 'count'],
    ...attended.map(({ word, share, count }) => [word, share, count]),
  ];
  return (
    <>
      <TableHead name={`attended-${symbol}`} rows={rows}>
        Words that attend to it <span class="hint">mean share of attention</span>
      </TableHead>
      <Chips of={attended.map(({ word, share }) => ({ text: word, note: percent(share) }))} />
    </>
  );
}

const Chips = ({ of }: { of: readonly { text: string; note?: string }[] }) =>
  of.length === 0 ? (
    <p class="faint">None: no text that was read passes here.</p>
  ) : (
    <ul class="tokens">
      {of.map(({ text, note }) => (
        <li key={text}>
          {text}
          {note === undefined ? null : <span class="faint number"> {note}</span>}
        </li>
      ))}
    </ul>
  );

/** How often a label is among a theme's texts, beside its share of all texts. */
const times = (lift: number): string =>
  lift >= 1.15
    ? `${lift.toFixed(1)} times the usual`
    : lift <= 0.87
      ? `${percent(lift)} of the usual`
      : 'as usual';

/** How the labels of its sentences are shared out. */
export function LabelShares({ symbol, labels }: { symbol: SymbolFacts; labels: Labels | null }) {
  if (symbol.labels.length === 0) return null;
  const colour = (label: string) => labelColour(labels?.maps.findIndex((map) => map.label === label) ?? -1);
  const rows = () => [
    ['label', 'share', 'lift'],
    ...symbol.labels.map(({ label, share, lift }) => [label, share, lift]),
  ];
  return (
    <>
      <TableHead name={`labels-${symbol.symbol}`} rows={rows}>
        Whose texts these are
      </TableHead>
      <table class="label-shares">
        <tbody>
          {symbol.labels.map(({ label, share, lift }) => (
            <tr key={label} data-label={label}>
              <th scope="row">{label}</th>
              <td>
                <span class="bar">
                  <span class="track" aria-hidden="true">
                    <span style={{ width: `${100 * share}%`, background: colour(label) }} />
                  </span>
                  <span class="number">{percent(share)}</span>
                </span>
              </td>
              <td class="number faint" title="times the label’s share of all sentences">
                {times(lift)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
