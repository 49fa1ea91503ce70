import { expect } from 'chai';
import { createClientSecrets, generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { ClientSecrets } from '../../../api/credentials/client-secret.ts';
import { createHashQueue } from '../../../api/credentials/hash-queue.ts';
import { NO_CHECKS } from '../no-checks.ts';
import { authenticateBySecret } from '../../../api/oauth/client-auth/authenticate-client.ts';
import { parseBasic } from '../../../api/oauth/client-auth/client-auth-request.ts';
import type { BoxState } from '../../../api/box/box-state.ts';
import { createBoxState } from '../../../api/box/box-state.ts';
import { createUsageNotes } from '../../../api/box/notes.ts';
import { changes, clientRow, sampleSealing } from '../../box/sample-changes.ts';
import type { Reply } from '../requests.ts';
import { basic, sendForm, sendJson } from '../requests.ts';
import { secret, startTokenApi } from '../token-api.ts';
import type { TokenApi } from '../token-api.ts';
import { median, trimmed, welch } from '../welch.ts';
import { outcome } from '../world.ts';

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
    const secrets = createClientSecrets(createHashQueue(1, 1));

    it('over 100,000 pairs, in one run of three: what a busy machine does is gone the next time, what leaks is not', async () => {
      let t = await medianOfT(secrets, 10, 10_000);
      for (let again = 0; again < 2 && t >= 4.5; again += 1) t = await medianOfT(secrets, 10, 10_000);
      expect(t).to.be.below(4.5);
    });

    const planted: Record<string, ClientSecrets> = {
      'answers an unknown client at once': {
        ...secrets,
        verify: async (stored, sent) => (stored.length > 0 ? secrets.verify(stored, sent) : undefined),
      },
      'hashes twice for a client that it knows': {
        ...secrets,
        verify: async (stored, sent) =>
          (stored.length > 0 ? await secrets.verify(stored, `${sent}x`) : undefined) ?? secrets.verify(stored, sent),
      },
    };
    for (const [what, leaking] of Object.entries(planted)) {
      it(`and the measurement finds code that ${what}`, async () => {
        let t = await medianOfT(leaking, 5, 1_000);
        for (let again = 0; again < 2 && t <= 4.5; again += 1) t = await medianOfT(leaking, 5, 1_000);
        expect(t).to.be.above(4.5);
      });
    }
  });
});

/** Share of a rejection's 5 microseconds that is ignored: code at another address runs that much slower. */
const negligible = 0.1;

const hundred = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'));

/**
 * Median over some batches of Welch's t between refusals of unknown clients and of known ones with a generated secret.
 */
async function medianOfT(secrets: ClientSecrets, batches: number, pairs: number): Promise<number> {
  const state = await stateWith(hundred.map((number) => `client-${number}`));
  const refusal = await timer(state, secrets);
  await samples(refusal, 5_000);
  const values: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const { known, unknown } = await samples(refusal, pairs);
    values.push(welch(trimmed(known), trimmed(unknown), negligible));
  }
  return median(values);
}

type Refusal = (id: string) => Promise<number>;

/** Interleaved, and each pair in the other order than the one before: what slows one slows the other. */
async function samples(refusal: Refusal, pairs: number): Promise<{ known: number[]; unknown: number[] }> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const number = hundred[pair % hundred.length] ?? '';
    const turns = [
      async () => void known.push(await refusal(`client-${number}`)),
      async () => void unknown.push(await refusal(`nobody-${number}`)),
    ];
    for (const turn of pair % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return { known, unknown };
}

async function stateWith(ids: readonly string[]): Promise<BoxState> {
  const stored = await createClientSecrets(createHashQueue(1, 1)).store(generateClientSecret());
  const state = createBoxState('default', sampleSealing, () => undefined);
  state.take(changes(1, { changed: ids.map((id) => clientRow(id, { secrets: [stored] })) }));
  return state;
}

/** Nanoseconds that the refusal of a client with a wrong secret takes. */
async function timer(state: BoxState, secrets: ClientSecrets): Promise<Refusal> {
  const wrong = generateClientSecret();
  const services = { secrets, usage: createUsageNotes(), now: Date.now, issuer: () => 'https://auth.example.com' };
  return async (id) => {
    const credentials = parseBasic(basic(id, wrong));
    const started = process.hrtime.bigint();
    await outcome(authenticateBySecret(credentials, { state, services, checks: NO_CHECKS }));
    return Number(process.hrtime.bigint() - started);
  };
}
