const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // A figure of the page is drawn from a blob of its own to become a PNG.
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * On every answer, those of the guard included, which Hono's own headers would miss. No CORS header is among them:
 * other pages may read nothing.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': policy.join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};
