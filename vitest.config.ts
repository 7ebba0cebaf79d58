import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'paper/test/**/*.test.ts'],
    globalSetup: ['packages/explorer/test/chromium.ts'],
    pool: 'forks',
    // Two files at a time, also on two cores: many tests wait for processes of their own.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
