import { expect } from 'chai';
import { hash } from 'node:crypto';
import { addUser, newBrowser } from '../http/pages/browser.ts';
import { entries, startBoxApi } from '../http/resources/box-api.ts';
import type { BoxApi, Shown } from '../http/resources/box-api.ts';
import { eventually } from '../support/eventually.ts';
import { assertion, makeSigner, proof } from './assertions.ts';
import type { Signer } from './assertions.ts';
import { sendForm, textOf } from './requests.ts';
import type { Fields, Reply } from './requests.ts';

const back = 'https://app.example/back';
const clusterIssuer = 'https://kubernetes.default.svc.cluster.local';
const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };

/** Reuses over a real API, and the records that it writes of them. */
describe('a credential that comes again', () => {
  let api: BoxApi;
  let cluster: Signer;
  let user: number;

  before(async () => {
    api = await startBoxApi();
    cluster = await makeSigner('RS256', 'cluster');
    const authorization_code = { redirect_uri: back, refresh_token: true, refresh_rotation: true };
    const grant_types = ['authorization_code'];
    const service_accounts = [{ namespace: 'apps', name: 'report' }];
    await api.declare('default', [
      { kind: 'Client', id: 'app', grant_types, first_party: true, auth: { authorization_code } },
      { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], service_accounts },
    ]);
    const { publicJwk } = cluster;
    await api.serviceAccounts({ issuer: clusterIssuer, keys: { keys: [{ ...publicJwk, kty: publicJwk.kty ?? '' }] } });
    user = await addUser(api, ann.email, ann.password);
  });
  after(() => api.stop());

  const ask = (fields: Fields): Promise<Reply> => sendForm(`${api.base}/auth/token`, fields);

  async function newCode(): Promise<string> {
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
    const challenge = { code_challenge: hash('sha256', verifier, 'base64url'), code_challenge_method: 'S256' };
    const asked = new URLSearchParams({ response_type: 'code', client_id: 'app', redirect_uri: back, ...challenge });
    const { location } = await browser.get(`/auth/authorize?${asked.toString()}`);
    return new URL(location).searchParams.get('code') ?? '';
  }
  const verifier = 'v'.repeat(43);

  const redeem = (code: string): Promise<Reply> =>
    ask({ grant_type: 'authorization_code', client_id: 'app', redirect_uri: back, code, code_verifier: verifier });

  const refresh = (refresh_token: string): Promise<Reply> =>
    ask({ grant_type: 'refresh_token', client_id: 'app', refresh_token });

  async function comeAs(uid: string): Promise<Reply> {
    const claims = {
      iss: clusterIssuer,
      aud: ['http://boxgate.test/boxes/default'],
      sub: 'system:serviceaccount:apps:report',
      'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'report', uid } },
    };
    const text = await assertion(cluster, 'unused', 'unused', { claims, header: { typ: undefined } });
    return ask({ grant_type: 'client_credentials', client_id: 'reports', ...proof(text) });
  }

  const byUser = () => ({
    client: { resourceType: 'Client', id: 'app' },
    user: { resourceType: 'User', id: String(user) },
  });

  const cases: readonly {
    readonly event: string;
    readonly client: string;
    readonly by: () => object;
    readonly cause: () => Promise<Reply>;
  }[] = [
    {
      event: 'code.reused',
      client: 'app',
      by: byUser,
      cause: async () => {
        const code = await newCode();
        expect((await redeem(code)).status).to.equal(200);
        return redeem(code);
      },
    },
    {
      event: 'refresh_token.reused',
      client: 'app',
      by: byUser,
      cause: async () => {
        const first = textOf(await redeem(await newCode()), 'refresh_token');
        const second = textOf(await refresh(first), 'refresh_token');
        expect((await refresh(second)).status).to.equal(200);
        return refresh(first);
      },
    },
    {
      event: 'service_account.created_again',
      client: 'reports',
      by: () => ({}),
      cause: async () => {
        expect((await comeAs('uid-1')).status).to.equal(200);
        return comeAs('uid-2');
      },
    },
  ];
  for (const { event, client, by, cause } of cases) {
    it(`is one line of the log and one record, ${event}, with the request that it came with`, async () => {
      const { status, headers } = await cause();
      expect(status).to.be.within(400, 401);
      let records: readonly Shown[] = [];
      await eventually(`there is a record of ${event}`, async () => {
        records = entries(await api.call('GET', `/AuditEvent?event=${event}`));
        return records.length > 0;
      });
      expect(records).to.have.length(1);
      expect(records[0]).to.deep.include({
        result: 'failure',
        actor: { ...by(), remote_addr: '127.0.0.1' },
        target: { resourceType: 'Client', id: client },
        request_id: headers.get('x-request-id'),
        count: 1,
      });
      expect(api.logLines.filter((line) => line.includes(event))).to.have.length(1);
    });
  }
});
