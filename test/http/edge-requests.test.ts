import { expect } from 'chai';
import { authorizePath, codeRequest, startOpenIdApi } from '../oauth/openid/openid-api.ts';
import type { OpenIdApi } from '../oauth/openid/openid-api.ts';
import { sendForm, textOf } from '../oauth/requests.ts';
import { sendRequest } from './raw-http.ts';

/** An input, and the answer that it must get. */
interface Row {
  readonly name: string;
  readonly ask: () => Promise<unknown>;
  readonly becomes: unknown;
}

const secret = 'operator-secret-1';

describe('requests of other software', () => {
  let api: OpenIdApi;
  let token = '';

  before(async () => {
    api = await startOpenIdApi();
    await api.declare('default', [
      { kind: 'Client', id: 'ops', grant_types: ['client_credentials'], secret },
      { kind: 'AccessPolicy', id: 'ops', engine: 'allow', link: [{ resourceType: 'Client', id: 'ops' }] },
    ]);
    const fields = { grant_type: 'client_credentials', client_id: 'ops', client_secret: secret };
    token = textOf(await sendForm(url('/auth/token'), fields), 'access_token');
  });
  after(() => api.stop());

  const url = (path: string): string => `${api.url}/boxes/default${path}`;
  const raw = (method: string, target: string, headers: readonly (readonly [string, string])[], body?: string) =>
    sendRequest(api.url, { method, target: `/boxes/default${target}`, headers, ...(body !== undefined && { body }) });

  const rows: readonly Row[] = [
    ...['application/json', 'application/json; charset=utf-8', 'application/json;charset=UTF-8', '*', ''].map(
      (accept): Row => ({
        name: `R4: Accept: ${accept}`,
        ask: async () =>
          (
            await raw('GET', '/users', [
              ['Authorization', `Bearer ${token}`],
              ['Accept', accept],
            ])
          ).status,
        becomes: 200,
      }),
    ),
    {
      name: 'E-21: each refusal has its reason in the log, with what was sent',
      ask: async () => {
        const before = api.logLines.length;
        const grant = { grant_type: 'client_credentials', client_secret: 'x' };
        await sendForm(url('/auth/token'), { ...grant, client_id: 'nobody' });
        await sendForm(url('/auth/token'), { ...grant, client_id: 'ops' });
        await sendForm(url('/auth/token'), { grant_type: 'authorization_code', code: 'x', client_id: 'public-app' });
        await raw('GET', authorizePath({ ...codeRequest, client_id: 'nobody' }), []);
        await raw('GET', authorizePath({ ...codeRequest, redirect_uri: 'https://elsewhere.example/' }), []);
        await raw('GET', '/Client', [['Origin', 'https://elsewhere.example']]);
        // A record of the audit trail repeats the reason, sooner or later.
        const answers = api.logLines.slice(before).filter((line) => !line.includes('"audit":'));
        return answers.flatMap((line) => {
          const [, reason = ''] = /"reason":"(\w+)"/.exec(line) ?? [];
          const [, sent] = /"sent":"([^"]*)"/.exec(line) ?? [];
          return reason === '' ? [] : [sent === undefined ? reason : `${reason}: ${sent}`];
        });
      },
      becomes: [
        'unknown_client',
        'wrong_secret',
        'unknown_client',
        'unknown_client: client_id nobody',
        'redirect_uri_not_listed: redirect_uri https://elsewhere.example/',
        'origin_not_listed: https://elsewhere.example',
      ],
    },
    {
      name: 'E-23: a JSON body that begins with a byte order mark',
      ask: async () => {
        const headers = [
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json'],
        ] as const;
        return (await raw('POST', '/Group', headers, '\ufeff{"name":"marked"}')).status;
      },
      becomes: 201,
    },
    {
      name: 'E-23: HSTS is sent where the request came by TLS, for this host alone',
      ask: async () => {
        const [plain, secure] = [await raw('GET', '/', []), await raw('GET', '/', [['X-Forwarded-Proto', 'https']])];
        return [plain, secure].map(({ headers }) => headers.get('strict-transport-security'));
      },
      becomes: [undefined, 'max-age=31536000'],
    },
    {
      name: 'E-23: 415 names the types that the method accepts',
      ask: async () => {
        const headers = [
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json-patch+json'],
        ] as const;
        const { status, headers: given } = await raw('POST', '/Group', headers, '[]');
        return [status, given.get('accept')];
      },
      becomes: [415, 'application/json, application/yaml, application/x-yaml, text/yaml'],
    },
  ];
  for (const { name, ask, becomes } of rows) {
    it(name, async () => {
      expect(await ask()).to.deep.equal(becomes);
    });
  }
});
