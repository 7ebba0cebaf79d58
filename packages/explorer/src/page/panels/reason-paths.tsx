import { percent, titleIn } from '../labels.ts';
import type { PanelProps } from './panel.ts';
import { type Branch, pathTree } from './path-tree.ts';
import { movesIn, type Result, type ResultProps } from './reason-answers.tsx';
import { movesOf } from './reason-path.tsx';

/** The walks of all answers as one tree, common beginnings merged, each branch as thick as its share of them. */
export function Paths({ result, ...props }: ResultProps) {
  const tree = pathTree(result.candidates.map(({ walk }) => walk));
  return (
    <section class="paths" aria-label="Paths">
      <p class="faint">As thick as the share of answers that go this way; a press goes on from there.</p>
      <Branches {...props} result={result} branches={tree} />
    </section>
  );
}

interface BranchesProps extends PanelProps {
  result: Result;
  branches: readonly Branch[];
}

/** Pixels of a branch that all answers take. */
const THICKEST = 9;

const Branches = ({ branches, ...props }: BranchesProps) => (
  <ul>
    {branches.map((branch) => (
      <OneBranch key={branch.prefix.join()} {...props} branch={branch} />
    ))}
  </ul>
);

type BranchProps = Omit<BranchesProps, 'branches'> & { branch: Branch };

function OneBranch({ branch, ...props }: BranchProps) {
  const { prefix, branches, walks } = branch;
  const { candidates } = props.result;
  const share = walks.length / candidates.length;
  const thickness = `${(1 + (THICKEST - 1) * share).toFixed(1)}px`;
  return (
    <li data-prefix={prefix.join(' ')} data-share={share} style={{ borderLeftWidth: thickness }}>
      <BranchButton {...props} branch={branch} share={share} />
      {branches.length === 0 ? (
        <span class="leaves">{walks.map((at) => candidates[at]!.object || '(nothing)').join(' · ')}</span>
      ) : (
        <Branches {...props} branches={branches} />
      )}
    </li>
  );
}

function BranchButton({ branch, share, result, graph, change, showWalk }: BranchProps & { share: number }) {
  const { prefix, steps, walks } = branch;
  const before = prefix.length - steps.length;
  const half = result.candidates[walks[0]!]!.walk.length / 2;
  return (
    <button
      type="button"
      class="plain branch"
      title="Other answers that go this way"
      onMouseEnter={() => showWalk(movesIn(prefix))}
      onMouseLeave={() => showWalk(null)}
      onClick={() => change({ relations: [result.relation], along: prefix })}
    >
      {movesOf(steps).map((i) => (
        <span key={i} class={before + i < half ? 'step' : 'step second'}>
          {titleIn(graph, steps[i]!) || steps[i]}
        </span>
      ))}
      <span class="faint number">{percent(share)}</span>
    </button>
  );
}
