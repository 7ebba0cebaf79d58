// What is sent to a server to get past its guard; shared by tests and fault injection.
import { endpoints } from '../src/shared/api.ts';

export const routes = [
  ...Object.values(endpoints).map(({ path }) => path.replace(':k', '1')),
  ...['/', '/app.js', '/app.css', '/api/openapi.json', '/api/none', '/none'],
];

/** Ways to write a path that leads out, or around a guard. */
const up = [
  '../',
  '..%2f',
  '..%2F',
  '%2e%2e/',
  '%2e%2e%2f',
  '%252e%252e%252f',
  '..\\',
  '..%5c',
  '%c0%ae%c0%ae/',
  '....//',
];
const targets = ['etc/passwd', 'secret.txt', 'package.json', 'run.json', 'src/server/index.ts'];
/** Paths that must lead nowhere. */
export const paths = [
  ...up.flatMap((step) => targets.map((target) => `/${step.repeat(6)}${target}`)),
  ...up.map((step) => `/api/${step.repeat(3)}secret.txt`),
  ...up.map((step) => `/app.js/${step}${step}run.json`),
  ...['//api/run', '///api/run', '/api//run', '/api%2Frun', '/api%2frun', '/API/run', '/Api/run', '/api/RUN'],
  ...[
    '/api/run/',
    '/api/./run',
    '/./api/run',
    '/api/x/../run',
    '/%61pi/run',
    '/api/run%00',
    '/api/run%20',
    '/api;/run',
  ],
  ...[
    '//evil.com/',
    '/\\evil.com',
    '/.env',
    '/.git/config',
    '/app.js%00.txt',
    '/app.js.map',
    '/dist/page/app.js',
  ],
  ...[
    '/index.html/..',
    '/symbol/../api/run',
    '/api/symbol/..%2f..%2fnames',
    '/page-of-sibling/app.js',
    '/../page/app.js',
  ],
];

/** Other ways to write an address of the API. */
export const spellings = paths.filter((path) => /^\/+(%61|a)pi|^\/\.\/api/i.test(path));

/** Host headers that are not this server's. */
export const foreignHosts = (port: string | number): string[] => [
  'evil.com',
  `evil.com:${port}`,
  `localhost.evil.com:${port}`,
  `127.0.0.1.evil.com:${port}`,
  '127.0.0.1',
  'localhost',
  `localhost:${Number(port) + 1}`,
  `127.0.0.1:${port}@evil.com`,
  '0.0.0.0',
];

/** Origins of pages that are not this server's. */
export const foreignOrigins = (host: string): string[] => [
  'null',
  'http://evil.com',
  `https://${host}`,
  `http://127.0.0.1:${Number(host.split(':')[1]) + 1}`,
  'file://',
  '',
];
