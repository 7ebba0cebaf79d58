import type { Encoded } from '../client.ts';
import { TableHead } from '../figure.tsx';
import { percent, titleIn } from '../labels.ts';
import { Bar, SymbolLink } from '../parts.tsx';
import type { PanelProps } from './panel.ts';

type Walked = NonNullable<Encoded['walk']>;

interface WalkProps extends PanelProps {
  encoded: Encoded;
  /** The true walk, where the sentence was picked from a corpus that knows it. */
  truth: number[] | null;
}

/** A sentence's walk step by step, or why there is none. */
export function Walk({ encoded, truth, graph, goTo }: WalkProps) {
  const { walk } = encoded;
  if (!walk) return <NoWalk {...encoded} />;
  const labelOf = (symbol: number) => titleIn(graph, symbol);
  return (
    <section class="walk" aria-label="Walk" data-walk={walk.steps.map(({ symbol }) => symbol).join(' ')}>
      <TableHead name="walk" rows={() => walkRows(walk, labelOf)}>
        Themes it goes through
      </TableHead>
      <Summary walk={walk} truth={truth} cut={encoded.cut} />
      <table>
        <thead>
          <tr>
            <th>Step</th>
            {walk.steps[0]?.token === null ? null : <th>Token</th>}
            <th>Theme</th>
            <th>How sure</th>
            <th>Otherwise</th>
          </tr>
        </thead>
        <tbody>
          {shownSteps(walk).map(({ step, at }) => (
            <Step
              key={at}
              {...{ step, at, labelOf, goTo }}
              wrong={truth !== null && truth[at] !== step.symbol}
            />
          ))}
        </tbody>
      </table>
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

const walkRows = ({ steps }: Walked, labelOf: (symbol: number) => string) => [
  ['step', 'token', 'symbol', 'words', 'probability', 'link from the step before', 'alternatives'],
  ...steps.map(({ token, symbol, probability, link, alternatives }, at) => [
    ...[at + 1, token, symbol, labelOf(symbol), probability, link],
    alternatives.map((other) => `${other.symbol} (${percent(other.probability)})`).join(' '),
  ]),
];

function Summary({ walk, truth, cut }: { walk: Walked; truth: number[] | null; cut: boolean }) {
  const right = walk.steps.filter(({ symbol }, at) => symbol === truth?.[at]).length;
  return (
    <p class="faint">
      {[
        ...(walk.logProbability === null ? ['One of its steps has no link.'] : []),
        ...(cut ? ['The text is longer than the encoder reads; its end was left out.'] : []),
        ...(truth ? [`${right} of ${truth.length} symbols are the true ones.`] : []),
      ].join(' ')}
    </p>
  );
}

/** A less probable alternative is no other reading. */
const WORTH_SAYING = 0.005;

interface StepProps {
  step: Walked['steps'][number];
  at: number;
  wrong: boolean;
  labelOf(symbol: number): string;
  goTo(symbol: number): void;
}

const Step = ({ step, at, wrong, labelOf, goTo }: StepProps) => (
  <tr class={wrong ? 'wrong' : ''}>
    <td class="number">{at + 1}</td>
    {step.token === null ? null : <td class="token">{step.token}</td>}
    <td>
      <SymbolLink symbol={step.symbol} label={labelOf(step.symbol)} onChoose={goTo} />
      {step.link !== null && step.link < 0.5 ? (
        <span class="weak" title={`The link from the step before has probability ${percent(step.link)}`}>
          no link
        </span>
      ) : null}
    </td>
    <td>
      <Bar of={step.probability} />
    </td>
    <td class="else">
      {step.alternatives
        .filter(({ probability }) => probability >= WORTH_SAYING)
        .map(({ symbol, probability }) => (
          <button type="button" class="plain" key={symbol} onClick={() => goTo(symbol)}>
            {labelOf(symbol) || symbol} <span class="faint">{percent(probability)}</span>
          </button>
        ))}
    </td>
  </tr>
);
