import { builtPage } from './build.ts';

const folder = await builtPage(console.log);
console.log(folder);
