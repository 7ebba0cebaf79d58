export {
  moveIntoPlace,
  partialName,
  removeStalePartials,
  removeTemporaries,
  takeName,
  writeBeside,
  writeFileAtomic,
  writeJsonAtomic,
} from './beside.ts';
export {
  CACHE_KINDS,
  type CacheEntry,
  type CacheKind,
  cacheEntries,
  cacheLimit,
  keepWithin,
  markUsed,
  removeEntries,
} from './cache-content.ts';
export { cacheFolder } from './cache-folder.ts';
export { csvText, guardedText, restoredText, tsvLine } from './csv-writer.ts';
export { reasonOf, UserError } from './errors.ts';
export {
  type FileSum,
  freeBytes,
  hashBytes,
  hashFile,
  hashFileSlowly,
  type JsonValue,
  jsonText,
  openSealed,
  sealedText,
  spareMemory,
  syncFolder,
  syncFolderSoon,
  writeAll,
  writeDurably,
  writeSynced,
} from './files.ts';
export { parseJson, readJsonFile, readJsonIfThere } from './json-file.ts';
export { Random, splitmix64 } from './random.ts';
export { kindOf, openRegular, readRegular, readText } from './regular-file.ts';
export {
  type Cell,
  type Column,
  charWidth,
  displayWidth,
  formatMeanSd,
  formatNumber,
  formatTable,
  type MeanSd,
  meanSd,
  plainText,
  type TableFormat,
} from './tables.ts';
