import { expect } from 'chai';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { Reply } from '../requests.ts';
import { basic, sendForm, sendJson } from '../requests.ts';
import { secret, startTokenApi } from '../token-api.ts';
import type { TokenApi } from '../token-api.ts';

describe('T-03 an unknown client and a wrong secret', () => {
  describe('get the same answer, byte by byte', () => {
    let api: TokenApi;

    before(async () => {
      api = await startTokenApi();
    });
    after(() => api.stop());

    const asked = { grant_type: 'client_credentials' };
    const ways: Record<string, (client: string, wrong: string) => Promise<Reply>> = {
      'Basic and a form': (client, wrong) => api.form(asked, basic(client, wrong)),
      'a form': (client, wrong) => sendForm(api.tokenUrl, { ...asked, client_id: client, client_secret: wrong }),
      JSON: (client, wrong) => sendJson(api.tokenUrl, { ...asked, client_id: client, client_secret: wrong }),
      'a refresh': (client, wrong) =>
        api.form({ grant_type: 'refresh_token', refresh_token: `bgr_${'A'.repeat(96)}` }, basic(client, wrong)),
      introspection: (client, wrong) => sendForm(at('introspect'), { token: 'x' }, basic(client, wrong)),
      revocation: (client, wrong) => sendForm(at('revoke'), { token: 'x' }, basic(client, wrong)),
    };
    const at = (endpoint: string): string => `${api.url}/boxes/default/auth/${endpoint}`;

    for (const [way, ask] of Object.entries(ways)) {
      it(`to ${way}`, async () => {
        const wrong = generateClientSecret();
        const unknown = shown(await ask('nobody', wrong));
        // With a generated secret, a chosen one, none, and one that is right but of no use.
        expect(shown(await ask('plain', wrong))).to.deep.equal(unknown);
        expect(shown(await ask('reporting', wrong))).to.deep.equal(unknown);
        expect(shown(await ask('public', wrong))).to.deep.equal(unknown);
        if (way !== 'a refresh') expect(shown(await ask('off', secret))).to.deep.equal(unknown);
      });
    }

    /** All but what every answer has of its own: the moment and the request's id. */
    function shown({ status, headers, text }: Reply) {
      const fixed = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
      return { status, text, headers: Object.fromEntries(fixed) };
    }
  });

  describe('take the same time in process', () => {
    it('over 100,000 pairs, in one run of three: what a busy machine does is gone the next time, what leaks is not', async () => {
      let t = await medianOfT('ships', 10, 10_000);
      for (let again = 0; again < 2 && t >= 4.5; again += 1) t = await medianOfT('ships', 10, 10_000);
      expect(t).to.be.below(4.5);
    });

    for (const leak of ['answers an unknown client at once', 'hashes twice for a client that it knows']) {
      it(`and the measurement finds code that ${leak}`, async () => {
        let t = await medianOfT(leak, 5, 1_000);
        for (let again = 0; again < 2 && t <= 4.5; again += 1) t = await medianOfT(leak, 5, 1_000);
        expect(t).to.be.above(4.5);
      });
    }
  });
});

/**
 * Median over some batches of Welch's t between refusals of unknown clients and of known ones with a generated secret,
 * in a thread that has just begun.
 */
async function medianOfT(code: string, batches: number, pairs: number): Promise<number> {
  const program = new URL('./refusal-times.ts', import.meta.url);
  const worker = new Worker(program, { argv: [code, String(batches), String(pairs)] });
  const answer: unknown[] = await once(worker, 'message');
  return Number(answer[0]);
}
