import type { GgufFile, MetadataValue } from './reader.ts';

/** Metadata by key and type; what is missing or of another type is told by its key. */
export class Metadata {
  readonly #file: GgufFile;

  constructor(file: GgufFile) {
    this.#file = file;
  }

  has(key: string): boolean {
    return this.#file.metadata.has(key);
  }

  number(key: string, fallback?: number): number {
    return this.#of(
      key,
      fallback,
      'a number',
      (value) => typeof value === 'number' && Number.isFinite(value),
    );
  }

  text(key: string, fallback?: string): string {
    return this.#of(key, fallback, 'a string', (value) => typeof value === 'string');
  }

  flag(key: string, fallback: boolean): boolean {
    return this.#of(key, fallback, 'true or false', (value) => typeof value === 'boolean');
  }

  texts(key: string): readonly string[] {
    return this.#of<readonly string[]>(key, undefined, 'a list of strings', (value) =>
      isListOf(value, 'string'),
    );
  }

  numbers(key: string): readonly number[] {
    return this.#of<readonly number[]>(key, undefined, 'a list of numbers', (value) =>
      isListOf(value, 'number'),
    );
  }

  #of<T extends MetadataValue>(
    key: string,
    fallback: T | undefined,
    expected: string,
    fits: (value: MetadataValue) => boolean,
  ): T {
    const value = this.#file.metadata.get(key) ?? fallback;
    if (value === undefined) return this.#file.fail(`its metadata has no ${key}`);
    if (!fits(value))
      return this.#file.fail(`expected ${expected} as ${key} in its metadata, got ${shortly(value)}`);
    return value as T;
  }
}

function shortly(value: MetadataValue): string {
  return Array.isArray(value) ? `a list of ${value.length}` : JSON.stringify(value).slice(0, 60);
}

function isListOf(value: MetadataValue, type: 'string' | 'number'): boolean {
  return Array.isArray(value) && (value.length === 0 || typeof value[0] === type);
}
