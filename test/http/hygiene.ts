import { expect } from 'chai';
import { uiPolicy } from '../../api/pages/ui-page.ts';
import type { RawReply } from './raw-http.ts';

/** Paths of the decision point for gateways, of any box. */
const checks = /^(?:\/boxes\/[^/?]*)?\/auth\/check(?:[/?]|$)/;

/**
 * Checks the rules of every answer, whatever the request. Throws if the answer breaks one. A gateway passes the answers
 * of `/auth/check` on to the callers of an app: they must not set a policy for the host of the app.
 */
export function expectClean({ status, headers, text, whole }: RawReply, what: string, target = ''): void {
  const isOfCheck = checks.test(target);
  const header = (name: string): string => headers.get(name) ?? '(none)';
  const isPage = header('content-type').startsWith('text/html');
  expect(header('x-content-type-options'), what).to.equal('nosniff');
  if (isPage) {
    const policy = header('content-security-policy');
    if (policy !== uiPolicy())
      expect(policy, what).to.match(
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'(;|$)/,
      );
    expect(header('x-frame-options'), what).to.equal('DENY');
  } else {
    const policy = isOfCheck ? '(none)' : "default-src 'none'; frame-ancestors 'none'";
    expect(header('content-security-policy'), what).to.equal(policy);
  }
  // RFC 6797 §7.2: these answers are sent over http.
  expect(header('strict-transport-security'), what).to.equal('(none)');
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
