export { llama2cFolder } from './folder.ts';
export { openLlama2c } from './model.ts';
export type { Llama2cTokenizer } from './tokenizer.ts';
