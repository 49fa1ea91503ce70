import { expect } from 'chai';
import { basic, readReply, send, sendForm, sendJson } from '../requests.ts';
import type { Reply } from '../requests.ts';
import { chosenSecret, secret, startTokenApi } from '../token-api.ts';
import type { TokenApi } from '../token-api.ts';

const asked = { grant_type: 'client_credentials' };
const assertion = {
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: 'e30.e30.e30',
};
const formType = 'application/x-www-form-urlencoded';

describe('the token endpoint refuses', () => {
  let api: TokenApi;

  before(async () => {
    api = await startTokenApi();
  });
  after(() => api.stop());

  const form = (fields: Record<string, string>, authorization?: string) => api.form(fields, authorization);
  const unproven = (fields: Record<string, string>) => sendForm(api.tokenUrl, fields);
  const json = (value: unknown, authorization?: string) => sendJson(api.tokenUrl, value, authorization);

  /** By the answer that each must get. */
  const rows: Record<string, Record<string, () => Promise<Reply>>> = {
    '401 invalid_client': {
      'T-03 an unknown client': () => form(asked, basic('nobody', secret)),
      'T-03 a wrong secret': () => form(asked, basic('plain', 'wrong')),
      'T-03 a wrong secret in place of a chosen one': () => form(asked, basic('reporting', secret)),
      'T-04 bad base64': () => form(asked, 'Basic %%%'),
      'T-04 no colon': () => form(asked, `Basic ${btoa('plain')}`),
      'T-04 an empty id': () => form(asked, basic('', secret)),
      'T-04 characters that are not base64': () => form(asked, 'Basic YTp*Yg=='),
      'T-04 an id that was encoded twice': () => form(asked, basic('pl%2561in', secret)),
      'T-04 a secret cut at its colon': () => form(asked, basic('reporting', chosenSecret.replace(/:.*/, ''))),
      'T-04 another scheme': () => form(asked, 'Bearer x'),
      'T-05 password with a wrong secret': () => form({ grant_type: 'password' }, basic('browser', 'wrong')),
      'T-06 a grant that is not built, to nobody': () =>
        unproven({ grant_type: 'authorization_code', client_id: 'nobody' }),
      'T-07 a public client that names itself': () => unproven({ ...asked, client_id: 'public' }),
      'T-07 a public client with an empty secret in the header': () => form(asked, basic('public', '')),
      'T-07 a public client with an empty secret in the body': () =>
        json({ ...asked, client_id: 'public', client_secret: '' }),
      'T-07 a public client with any secret': () => form(asked, basic('public', secret)),
      'T-07 a confidential client without its secret': () => unproven({ ...asked, client_id: 'plain' }),
      'T-07 a confidential client with an empty secret': () => form(asked, basic('plain', '')),
      'a client that is switched off': () => form(asked, basic('off', secret)),
      'nobody at all': () => unproven(asked),
      'a client assertion': () => unproven({ ...asked, ...assertion }),
      'a client assertion of a client that is named too': () =>
        unproven({ ...asked, ...assertion, client_id: 'plain' }),
    },
    '400 invalid_request': {
      'X-09 a client assertion beside a right secret': () => form({ ...asked, ...assertion }),
      'the type of a client assertion alone': () =>
        unproven({ ...asked, client_assertion_type: assertion.client_assertion_type, client_id: 'plain' }),
      'T-05 no grant_type': () => form({}),
      'T-05 an empty grant_type': () => form({ grant_type: '' }),
      'T-09 an array of audiences': () => json({ ...asked, audience: ['https://a.example'] }, basic('bound', secret)),
      ...Object.fromEntries(
        [123, { $ne: null }, ['x'], true, null].flatMap((value) => [
          [
            `T-11 the secret ${JSON.stringify(value)}`,
            () => json({ ...asked, client_id: 'plain', client_secret: value }),
          ],
          [`T-11 the id ${JSON.stringify(value)}`, () => json({ ...asked, client_id: value, client_secret: secret })],
          [`T-11 the grant_type ${JSON.stringify(value)}`, () => json({ grant_type: value }, basic('plain', secret))],
        ]),
      ),
      'X-03 a body that is no object': () => json('client_credentials', basic('plain', secret)),
      'RFC 8707 an array of resources': () =>
        json({ ...asked, resource: ['https://a.example'] }, basic('bound', secret)),
      'X-06 a parameter twice': () =>
        send(api.tokenUrl, formType, 'grant_type=client_credentials&grant_type=x', basic('plain', secret)),
      'X-08 NUL': () => send(api.tokenUrl, formType, 'grant_type=client_credentials&scope=%00', basic('plain', secret)),
      'X-09 a secret in header and body': () => form({ ...asked, client_id: 'plain', client_secret: secret }),
      'X-09 two clients': () => form({ ...asked, client_id: 'reporting' }),
    },
    '400 unsupported_grant_type': {
      'T-05 an unknown grant_type': () => form({ grant_type: 'magic' }),
      'T-05 a grant_type in capitals': () => form({ grant_type: 'CLIENT_CREDENTIALS' }),
      'T-06 a grant that is listed and not built': () =>
        form({ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' }, basic('browser', secret)),
    },
    '400 unauthorized_client': {
      'T-05 password, of a client that does not list it': () => form({ grant_type: 'password' }),
      'T-06 client_credentials that is not listed': () => form(asked, basic('browser', secret)),
      'T-06 authorization_code that is not listed': () => form({ grant_type: 'authorization_code' }),
      'T-06 implicit that is not listed': () => form({ grant_type: 'implicit' }),
    },
    '400 invalid_target': {
      'RFC 8707 two resources': () =>
        send(
          api.tokenUrl,
          formType,
          'grant_type=client_credentials&resource=https://a.example&resource=https://b.example',
          basic('plain', secret),
        ),
      'T-09 an audience that is not listed': () =>
        form({ ...asked, audience: 'https://c.example' }, basic('bound', secret)),
      'T-09 an audience of 10 KB': () => form({ ...asked, audience: 'x'.repeat(10_240) }),
      'T-09 an audience of two lines': () => form({ ...asked, audience: 'a\nb' }),
      'RFC 8707 a resource that is not listed': () =>
        form({ ...asked, resource: 'https://c.example' }, basic('bound', secret)),
      'RFC 8707 a resource that is no absolute URI': () => form({ ...asked, resource: 'files' }),
      'RFC 8707 a resource and another audience': () =>
        form({ ...asked, resource: 'https://a.example', audience: 'https://b.example' }, basic('bound', secret)),
      'RFC 8707 a resource that the refresh token is not for': async () => {
        const { body } = await form({ ...asked, resource: 'https://a.example' }, basic('refreshing', secret));
        const refresh_token = String(body['refresh_token']);
        return unproven({
          grant_type: 'refresh_token',
          client_id: 'refreshing',
          refresh_token,
          resource: 'https://b.example',
        });
      },
    },
    '400 invalid_scope': {
      'a scope that the client may not have': () => form({ ...asked, scope: 'openid' }, basic('scoped', secret)),
      'the scope of administrators, for a client that lists none': () => form({ ...asked, scope: 'boxgate' }),
      'a malformed scope': () => form({ ...asked, scope: 'read  write' }, basic('scoped', secret)),
    },
    '413 invalid_request': {
      'T-12 a secret of 1 MB': () => unproven({ ...asked, client_id: 'plain', client_secret: 'x'.repeat(2 ** 20) }),
      'X-05 a body of 64 KB and a byte': () => send(api.tokenUrl, formType, 'x'.repeat(65_537)),
    },
    '415 invalid_request': {
      'X-04 a body of another type': () => send(api.tokenUrl, 'text/plain', 'grant_type=client_credentials'),
      'X-04 a body in another charset': () => send(api.tokenUrl, `${formType}; charset=utf-7`, 'grant_type=x'),
    },
  };
  for (const [answer, cases] of Object.entries(rows)) {
    for (const [what, ask] of Object.entries(cases)) {
      it(`${what}: ${answer}`, async () => {
        const { status, headers, body, text } = await ask();
        expect(`${String(status)} ${String(body['error'])}`).to.equal(answer);
        expect(body).to.have.all.keys('error', 'error_description');
        expect(headers.get('cache-control')).to.equal('no-store');
        const challenge = status === 401 ? 'Basic realm="default", charset="UTF-8"' : null;
        expect(headers.get('www-authenticate')).to.equal(challenge);
        expect(text).not.to.contain(secret);
      });
    }
  }

  it('a token past the limit of sessions of its box: 429 slow_down, and says when to try again', async () => {
    const client = { kind: 'Client', id: 'plain', grant_types: ['client_credentials'], secret } as const;
    const limit = { kind: 'Box', id: 'limited', tokens: { max_sessions_per_client: 1 } } as const;
    await api.declare('limited', [client, limit]);
    const ask = () => sendForm(`${api.url}/boxes/limited/auth/token`, asked, basic('plain', secret));
    expect((await ask()).status).to.equal(200);
    const { status, headers, body } = await ask();
    expect([status, body['error'], headers.get('retry-after')]).to.deep.equal([429, 'slow_down', '60']);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(body['error_description']).to.match(/^The client has as many live sessions as its box allows/);
  });

  it('T-12 a secret of 1 MB in the header: 431', async () => {
    const reply = api.form(asked, basic('plain', 'x'.repeat(2 ** 20)));
    // The server does not read on, so that the client may fail to write.
    expect(
      await reply.then(
        ({ status }) => status,
        () => 'closed',
      ),
    ).to.be.oneOf([431, 'closed']);
  });

  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
    it(`T-08 ${method}, and says what is allowed`, async () => {
      const query = new URLSearchParams({ ...asked, client_id: 'plain', client_secret: secret });
      const reply = await readReply(await fetch(`${api.tokenUrl}?${query.toString()}`, { method }));
      expect(reply.status).to.equal(405);
      expect(reply.headers.get('allow')).to.equal('POST');
      expect(reply.text).not.to.contain(secret);
    });
  }

  it('T-08 id and secret in the address of a POST', async () => {
    const query = new URLSearchParams({ client_id: 'plain', client_secret: secret });
    const reply = await sendForm(`${api.tokenUrl}?${query.toString()}`, asked);
    expect(reply.status).to.equal(400);
    expect(reply.text).not.to.contain(secret);
    expect(api.logLines.join('\n')).not.to.contain(secret);
  });

  it('a client of another box, and everybody in a box that is not there', async () => {
    await api.declare('other', [{ kind: 'Client', id: 'elsewhere', grant_types: ['client_credentials'], secret: 'x' }]);
    const at = (box: string) => sendForm(`${api.url}/boxes/${box}/auth/token`, asked, basic('plain', secret));
    expect((await at('other')).status).to.equal(401);
    const { status, body } = await at('nowhere');
    expect({ status, body }).to.deep.equal({ status: 404, body: { error: 'not_found' } });
  });

  it('T-12 all but a few of 1000 wrong secrets at once, and serves others meanwhile', async () => {
    const right = basic('reporting', chosenSecret);
    await api.form(asked, right);
    const flood = Array.from({ length: 1000 }, (_, index) => form(asked, basic('reporting', `wrong ${String(index)}`)));
    const served = await Promise.all([api.form(asked), api.form(asked, right)]);
    expect(served.map(({ status }) => status)).to.deep.equal([200, 200]);
    const answers = new Set<string>();
    for (const { status, headers, body } of await Promise.all(flood)) {
      answers.add(`${String(status)} ${String(body['error'])} ${headers.get('retry-after') ?? 'at once'}`);
    }
    expect([...answers].sort()).to.deep.equal(['401 invalid_client at once', '503 temporarily_unavailable 1']);
  });
});
