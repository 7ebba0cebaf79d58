export { importGguf } from './import.ts';
