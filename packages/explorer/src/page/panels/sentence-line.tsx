import type { ComponentChildren } from 'preact';

interface SentenceLineProps {
  text: string;
  label?: string | null;
  onRead(text: string): void;
  children?: ComponentChildren;
}

/** A sentence that can be read, with its label and whatever else there is to say of it. */
export const SentenceLine = ({ text, label, onRead, children }: SentenceLineProps) => (
  <button type="button" class="sentence" title="Show its walk" onClick={() => onRead(text)}>
    <span class="sentence-text">{text}</span>
    {label === null || label === undefined ? null : <span class="tag">{label}</span>}
    {children}
  </button>
);
