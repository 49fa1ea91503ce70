import { expect } from 'chai';
import { isRedirectUri } from '../../../../api/oauth/authorization/authorization-response.ts';
import { seededRandom } from '../../../support/random.ts';
import { configuredUris, variantOf } from '../../redirect-uri-variants.ts';

/** RFC 8252 §7.3 by the letter: http on a loopback address, and nothing between the address and the path but a port. */
const loopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\])/;

describe('a redirect URI', () => {
  it('is the configured one as a string', () => {
    for (const uri of configuredUris) expect(isRedirectUri(uri, uri), uri).to.equal(true);
  });

  const random = seededRandom();
  const count = Number(process.env['BOXGATE_VARIANTS'] ?? 30_000);

  it(`A-02 is nothing else, whatever a URL parser says: ${String(count)} texts, seed ${String(random.seed)}`, () => {
    let same = 0;
    for (let tries = 0; tries < count; tries += 1) {
      const configured = random.pick(configuredUris);
      const sent = variantOf(configured, random);
      if (sent === configured) continue;
      if (URL.parse(sent)?.href === URL.parse(configured)?.href) same += 1;
      if (isRedirectUri(sent, configured)) expect(withoutPort(sent, configured), sent).to.equal(configured);
    }
    expect(same).to.be.at.least(count / 10);
  });
});

/** Returns the sent URI without its port if both URIs have a loopback address: only there may the port differ. */
function withoutPort(sent: string, configured: string): string {
  const [origin = ''] = loopback.exec(configured) ?? [];
  if (origin === '' || !sent.startsWith(`${origin}:`)) return sent;
  const [port = '', number = ''] = /^:([1-9][0-9]*)(?=[/?]|$)/.exec(sent.slice(origin.length)) ?? [];
  return Number(number) > 65_535 ? sent : origin + sent.slice(origin.length + port.length);
}
