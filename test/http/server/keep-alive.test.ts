import { expect } from 'chai';
import { startApi } from '../../support/api.ts';

describe('the public port', () => {
  // AWS ALB, for one, reuses a connection for 60 s: a server must not close it first.
  for (const [what, environment, seconds] of [
    ['by default', {}, 75],
    ['with BOXGATE_KEEP_ALIVE_SECONDS=90', { BOXGATE_KEEP_ALIVE_SECONDS: '90' }, 90],
  ] as const) {
    it(`keeps an idle connection for ${String(seconds)} seconds ${what}`, async () => {
      const api = await startApi({ environment });
      try {
        const { headers } = await fetch(`${api.url}/boxes/default/.well-known/jwks.json`);
        expect(headers.get('keep-alive')).to.match(new RegExp(`^timeout=${String(seconds)},`));
        const { headers: ofManagement } = await fetch(`${api.managementUrl}/healthz`);
        expect(ofManagement.get('keep-alive')).to.match(/^timeout=30,/);
      } finally {
        await api.stop();
      }
    });
  }
});
