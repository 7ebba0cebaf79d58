import type { Encoded } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { MISSING_LINK } from '../graph/looks.ts';
import { percent, titleIn } from '../labels.ts';
import { Bar, Press, SymbolLink } from '../parts.tsx';
import { type Column, csvOf, DataTable } from '../tables.tsx';
import { usePanel } from './panel.ts';

type Walked = NonNullable<Encoded['walk']>;

interface WalkProps {
  encoded: Encoded;
  /** The true walk, where the sentence was picked from a corpus that knows it. */
  truth: number[] | null;
}

/** A sentence's walk step by step, or why there is none. */
export function Walk({ encoded, truth }: WalkProps) {
  const { graph, goTo } = usePanel();
  const { walk } = encoded;
  if (!walk) return <NoWalk {...encoded} />;
  const labelOf = (symbol: number) => titleIn(graph, symbol);
  return (
    <section class="walk" aria-label="Walk" data-walk={walk.steps.map(({ symbol }) => symbol).join(' ')}>
      <TableHead name="walk" rows={walkRows(walk, labelOf)}>
        Themes it goes through
      </TableHead>
      <Summary walk={walk} truth={truth} cut={encoded.cut} />
      <DataTable
        of={shownSteps(walk)}
        rowOf={({ step, at }) => ({ class: truth !== null && truth[at] !== step.symbol ? 'wrong' : '' })}
        columns={stepColumns(walk.steps[0]?.token !== null, labelOf, goTo)}
      />
    </section>
  );
}

/** All steps; of a text without those that only stay where the walk is. */
const shownSteps = ({ steps }: Walked) =>
  steps
    .map((step, at) => ({ step, at }))
    .filter(({ step, at }) => step.token !== null || step.symbol !== steps[at - 1]?.symbol);

const NoWalk = ({ problem, tokens }: Encoded) => (
  <div class="failure" role="alert">
    <p>{problem}</p>
    <p class="words">
      {tokens.slice(0, 200).map(({ text, known }, at) => (
        <span key={at} class={known ? '' : 'unknown'}>
          {text}{' '}
        </span>
      ))}
    </p>
  </div>
);

const walkRows = ({ steps }: Walked, labelOf: (symbol: number) => string) =>
  csvOf(steps, {
    ...{ step: (_, at) => at + 1, token: 'token', symbol: 'symbol' },
    words: ({ symbol }) => labelOf(symbol),
    ...{ probability: 'probability', 'link from the step before': 'link' },
    alternatives: ({ alternatives }) =>
      alternatives.map((other) => `${other.symbol} (${percent(other.probability)})`).join(' '),
  });

function Summary({ walk, truth, cut }: { walk: Walked; truth: number[] | null; cut: boolean }) {
  const right = walk.steps.filter(({ symbol }, at) => symbol === truth?.[at]).length;
  return (
    <p class="faint">
      {[
        ...(walk.logProbability === null ? ['One of its steps has no link.'] : []),
        ...(cut ? ['The text is longer than the encoder reads; its end was left out.'] : []),
        ...(truth ? [`${right} of ${truth.length} themes are the true ones.`] : []),
      ].join(' ')}
    </p>
  );
}

/** A less probable alternative is no other reading. */
const WORTH_SAYING = 0.005;

/** What is told of each step; its token where steps stand for tokens. */
const stepColumns = (
  tokens: boolean,
  labelOf: (symbol: number) => string,
  goTo: (symbol: number) => void,
): (false | Column<{ step: Walked['steps'][number]; at: number }>)[] => [
  { head: 'Step', class: 'number', cell: ({ at }) => at + 1 },
  tokens && { head: 'Token', class: 'token', cell: ({ step }) => step.token },
  {
    head: 'Theme',
    cell: ({ step: { symbol, link } }) => (
      <>
        <SymbolLink symbol={symbol} />
        {link !== null && link < MISSING_LINK ? (
          <span class="weak" title={`The link from the step before has probability ${percent(link)}`}>
            no link
          </span>
        ) : null}
      </>
    ),
  },
  { head: 'How sure', cell: ({ step }) => <Bar of={step.probability} /> },
  {
    ...{ head: 'Otherwise', class: 'else' },
    cell: ({ step }) =>
      step.alternatives
        .filter(({ probability }) => probability >= WORTH_SAYING)
        .map(({ symbol, probability }) => (
          <Press class="plain" key={symbol} onClick={() => goTo(symbol)}>
            {labelOf(symbol)} <span class="faint">{percent(probability)}</span>
          </Press>
        )),
  },
];
