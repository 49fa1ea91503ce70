import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { addUser } from '../http/pages/browser.ts';
import { send } from '../interface/as-written.ts';
import type { Answer } from '../interface/as-written.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { oauthStatus } from '../../api/oauth/oauth-error.ts';

const pages = ['docs/reference/tokens.md', 'docs/guides/check-a-token.md'];

/** The requests of the pages, each with the answer behind it; '' where there is none. */
function documented(): readonly { readonly request: string; readonly answer: string }[] {
  const text = pages.map((page) => readFileSync(page, 'utf8')).join('\n');
  const blocks = [...text.matchAll(/^```http\n([^]*?)^```$/gm)].map(([, block = '']) => block.trimEnd());
  const isAnswer = (block: string): boolean => /^\d/.test(block);
  return blocks.flatMap((request, index) => {
    const [next = ''] = blocks.slice(index + 1);
    return isAnswer(request) ? [] : [{ request, answer: isAnswer(next) ? next : '' }];
  });
}

describe('the pages on the OAuth endpoints', () => {
  let api: TestApi;
  let baseUrl: string;
  const given = new Map<string, string>();

  before(async () => {
    api = await startApi();
    baseUrl = `${api.url}/boxes/default`;
    const settings = { access_token_expiration: 600, refresh_token: true };
    const client = { kind: 'Client', grant_types: ['client_credentials'], secret: 'a secret' } as const;
    await api.declare('default', [
      { ...client, id: 'reports' },
      { ...client, id: 'exports', scope: ['read'], auth: { client_credentials: settings } },
      { kind: 'Client', id: 'desk', grant_types: ['password'] },
    ]);
    await addUser(api, 'ann@shop.example', 'a long enough passphrase');
  });
  after(() => api.stop());

  it('shows requests with their answers', () => {
    expect(documented()).to.have.length.above(5);
    for (const { request, answer } of documented()) {
      expect(request).to.match(/^(POST|GET|DELETE) \{base_url\}/);
      expect(answer, `a block of http with the answer must follow this one: ${request}`).to.match(/^200 OK\n/);
    }
  });

  // One after the other, as the pages tell them: a later one uses the tokens of an earlier one.
  for (const { request, answer } of documented()) {
    it(`tells the truth about ${request.split('\n', 1)[0] ?? ''}`, async () => {
      if (request.includes('<new access token>')) remember(await send(baseUrl, newToken), 'new access token');
      const found = await send(baseUrl, filledIn(request));
      const [head = '', body = ''] = answer.split('\n\n');
      const [status = '', ...headers] = head.split('\n');
      const answered = `${found.text} (this test declares the clients and users of the pages)`;
      expect(String(found.status), answered).to.equal(status.split(' ')[0]);
      for (const header of headers) {
        const [name = '', value = ''] = header.split(': ');
        expect(found.headers.get(name)).to.equal(value);
      }
      const whole = !request.startsWith('DELETE');
      expectLike(found.body, JSON.parse(body.replace('{issuer}', 'http://boxgate.test/boxes/default')), whole);
      remember(found, 'access token');
    });
  }

  const newToken = `
    POST {base_url}/auth/token
    Authorization: Basic ${btoa('reports:a secret')}
    Content-Type: application/x-www-form-urlencoded

    grant_type=client_credentials
  `;

  function remember({ body }: Answer, name: string): void {
    const members = new Map(typeof body === 'object' && body !== null ? Object.entries(body) : []);
    const access: unknown = members.get('access_token');
    const refresh: unknown = members.get('refresh_token');
    if (typeof access === 'string') given.set(name, access);
    if (typeof refresh === 'string') given.set('refresh token', refresh);
  }

  function filledIn(request: string): string {
    return request
      .replace(/base64\((.*)\)/, (_, text: string) => btoa(text))
      .replace(/<([a-z ]+)>/g, (_, name: string) => given.get(name) ?? `no ${name} was given`);
  }

  /** Texts that end in … are beginnings, numbers are examples. */
  function expectLike(found: unknown, shown: unknown, whole: boolean): void {
    if (typeof found !== 'object' || found === null || typeof shown !== 'object' || shown === null) {
      expect.fail('it is no object');
    }
    const members = new Map<string, unknown>(Object.entries(found));
    if (whole) expect([...members.keys()]).to.have.members(Object.keys(shown));
    for (const [name, value] of Object.entries(shown)) {
      const there = members.get(name);
      if (typeof value === 'string' && value.endsWith('…'))
        expect(there).to.match(new RegExp(`^${value.slice(0, -1)}`));
      else if (typeof value === 'number') expect(there).to.be.a('number');
      else expect(there).to.deep.equal(value);
    }
  }

  it('lists every error code that an OAuth endpoint answers with', () => {
    for (const code of [...Object.keys(oauthStatus), 'slow_down', 'temporarily_unavailable', 'server_error']) {
      expect(readFileSync('docs/reference/oauth.md', 'utf8')).to.contain(`| \`${code}\` |`);
    }
  });
});
