import { percent, titleIn } from '../labels.ts';
import { Press } from '../parts.tsx';
import { usePanel } from './panel.ts';
import { type Branch, pathTree } from './path-tree.ts';
import { movesIn, movesOf, type Result } from './reason-answers.tsx';

/** The walks of all answers as one tree, common beginnings merged, each branch as thick as its share of them. */
export const Paths = ({ result }: { result: Result }) => (
  <section class="paths" aria-label="Paths">
    <p class="faint">As thick as the share of answers that go this way; a press goes on from there.</p>
    <Branches result={result} branches={pathTree(result.candidates.map(({ walk }) => walk))} />
  </section>
);

/** Pixels of a branch that all answers take. */
const THICKEST = 9;

const Branches = ({ result, branches }: { result: Result; branches: readonly Branch[] }) => (
  <ul>
    {branches.map((branch) => (
      <OneBranch key={branch.prefix.join()} {...{ result, branch }} />
    ))}
  </ul>
);

function OneBranch({ result, branch }: { result: Result; branch: Branch }) {
  const { prefix, branches, walks } = branch;
  const { candidates } = result;
  const share = walks.length / candidates.length;
  const thickness = `${(1 + (THICKEST - 1) * share).toFixed(1)}px`;
  return (
    <li data-prefix={prefix.join(' ')} data-share={share} style={{ borderLeftWidth: thickness }}>
      <BranchButton {...{ result, branch, share }} />
      {branches.length === 0 ? (
        <span class="leaves">{walks.map((at) => candidates[at]!.object || '(nothing)').join(' · ')}</span>
      ) : (
        <Branches {...{ result, branches }} />
      )}
    </li>
  );
}

function BranchButton({ branch, share, result }: { result: Result; branch: Branch; share: number }) {
  const { graph, change, showWalk } = usePanel();
  const { prefix, steps, walks } = branch;
  const before = prefix.length - steps.length;
  const half = result.candidates[walks[0]!]!.walk.length / 2;
  return (
    <Press
      class="plain branch"
      title="Other answers that go this way"
      onMouseEnter={() => showWalk(movesIn(prefix))}
      onMouseLeave={() => showWalk(null)}
      onClick={() => change({ relations: [result.relation], along: prefix })}
    >
      {movesOf(steps).map((i) => (
        <span key={i} class={before + i < half ? 'step' : 'step second'}>
          {titleIn(graph, steps[i]!)}
        </span>
      ))}
      <span class="faint number">{percent(share)}</span>
    </Press>
  );
}
