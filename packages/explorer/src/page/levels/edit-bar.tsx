import { Failure, Waiting } from '../parts.tsx';
import type { Edits } from './use-edits.ts';

/** What is being edited, what went wrong with it, and the way back. */
export const EditBar = ({ edits }: { edits: Edits }) => (
  <div class="edit-bar">
    {edits.busy === null ? null : <Waiting what={edits.busy} />}
    {edits.failure === null ? null : <Failure message={edits.failure} />}
    {edits.last === null ? null : (
      <p class="undo">
        <span class="faint">{edits.last}</span>
        <button type="button" disabled={edits.busy !== null} onClick={() => void edits.undo()}>
          Undo
        </button>
      </p>
    )}
    <div class="unseen" role="status">
      {edits.said}
    </div>
  </div>
);
