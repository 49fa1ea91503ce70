import { expect } from 'chai';
import { uiPolicy } from '../../api/pages/ui-page.ts';
import type { RawReply } from './raw-http.ts';

/** Checks the rules of every answer, whatever the request. Throws if the answer breaks one. */
export function expectClean({ status, headers, text, whole }: RawReply, what: string): void {
  const header = (name: string): string => headers.get(name) ?? '(none)';
  const isPage = header('content-type').startsWith('text/html');
  expect(header('x-content-type-options'), what).to.equal('nosniff');
  if (isPage) {
    const policy = header('content-security-policy');
    if (policy !== uiPolicy)
      expect(policy, what).to.match(
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'(;|$)/,
      );
    expect(header('x-frame-options'), what).to.equal('DENY');
  } else expect(header('content-security-policy'), what).to.equal("default-src 'none'; frame-ancestors 'none'");
  expect(header('strict-transport-security'), what).to.equal('max-age=31536000; includeSubDomains');
  expect(header('referrer-policy'), what).to.equal('no-referrer');
  expect(header('x-request-id'), what).to.match(/^[\w.-]{8,64}$/);
  expect(header('cache-control'), what).to.match(/no-store|^public, max-age=\d+(, immutable)?$/);
  expect(headers.has('x-powered-by') || headers.has('server'), what).to.equal(false);
  if (text !== '') expect(header('content-type'), what).to.match(/^[\w/.+-]+; charset=utf-8$/);
  if (status === 401) expect(header('www-authenticate'), what).to.match(/^(Basic|Bearer) realm="/);
  if (status >= 400) {
    expect(whole, what).not.to.match(/\bexpress\b|node_modules|\bat .*:\d+:\d+|<pre|postgres:|SELECT /i);
    if (!isPage) expect(whole, what).not.to.contain('<html');
  }
  expect(status, `${what}: ${text}`).to.be.lessThan(500);
}
