import type { Mark } from '@hidden-schema/studies/drawing';
import { type ComponentChild, h } from 'preact';

/** Marks of a drawing on the page: made as elements, since its policy lets no text become markup. */
export const Drawn = ({ marks }: { marks: readonly Mark[] }) => <>{marks.map(shown)}</>;

const shown = (mark: Mark | string, key: number): ComponentChild =>
  typeof mark === 'string' ? mark : h(mark.tag, { ...mark.attributes, key }, mark.children.map(shown));
