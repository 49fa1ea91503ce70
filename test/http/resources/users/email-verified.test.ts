import { expect } from 'chai';
import { meanwhile } from '../../../support/meanwhile.ts';
import { ownerQuery } from '../../../support/owner-query.ts';
import { userTokens } from '../../../support/user-token.ts';
import { newBrowser } from '../../pages/browser.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi, CallOptions, Reply } from '../box-api.ts';

const password = 'a long enough passphrase';
const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** A policy as careless as can be: users may change everything of their own record. */
const ownRecord = {
  kind: 'AccessPolicy',
  id: 'own-record',
  engine: 'cel',
  subjects: 'authenticated',
  expression: 'user != null && resource.resourceType == "User" && resource.id == string(user.id)',
} as const;

describe('whether the email of a user is verified', () => {
  let api: BoxApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    const code = { redirect_uri: 'https://app.example/back' };
    const app = { kind: 'Client', id: 'app', grant_types: ['authorization_code'] } as const;
    const resources = [ownRecord, { ...app, auth: { authorization_code: code } }];
    await api.declare('default', [{ kind: 'Box', id: 'box', registration: { enabled: true } }, ...resources]);
    await api.declare('other', [{ kind: 'Box', id: 'box', registration: { enabled: true, approval: 'admin' } }]);
  });
  after(() => api.stop());

  const anEmail = (): string => `user-${String((nth += 1))}@mail.example`;
  const shown = ({ body }: Reply): unknown => member(body, 'email_verified');

  async function created(fields: object = {}): Promise<string> {
    const reply = await api.call('POST', '/users', { body: { email: anEmail(), password, ...fields } });
    expect(reply.status, reply.text).to.equal(201);
    return String(member(reply.body, 'id'));
  }

  const put = (id: string, body: unknown, options: CallOptions = {}) =>
    api.call('PUT', `/users/${id}`, { body, ...options });
  const read = async (id: string): Promise<unknown> => shown(await api.call('GET', `/users/${id}`));
  /** The user as a list shows it. */
  async function listed(id: string): Promise<unknown> {
    const { body } = await api.call('GET', '/users?_count=1000');
    return Array.isArray(body) ? body.find((one: unknown) => member(one, 'id') === Number(id)) : undefined;
  }
  const tokenOf = async (id: string) => (await userTokens(api.database.ownerUrl, 'default', 'app', Number(id))).access;

  describe('set by an administrator', () => {
    it('is absent from a user whom one created, in answers about one and in lists', async () => {
      const id = await created();
      for (const value of [(await api.call('GET', `/users/${id}`)).body, await listed(id)]) {
        expect(value).to.have.property('email');
        expect(value).to.not.have.property('email_verified');
      }
    });

    for (const value of [true, false]) {
      it(`is ${String(value)} once one has said so, when the user is created and later`, async () => {
        expect(await read(await created({ email_verified: value }))).to.equal(value);
        const id = await created({ email_verified: !value });
        expect(shown(await put(id, { email_verified: value }))).to.equal(value);
        expect(await read(id)).to.equal(value);
        expect(member(await listed(id), 'email_verified')).to.equal(value);
      });
    }

    for (const value of [null, 'true', 'false', 'yes', '', 1, 0, [true], {}]) {
      it(`is not ${JSON.stringify(value)}: 422 in a POST and in a PUT`, async () => {
        const id = await created({ email_verified: false });
        const body = { email: anEmail(), password, email_verified: value };
        for (const reply of [await api.call('POST', '/users', { body }), await put(id, { email_verified: value })]) {
          expect(reply.status, reply.text).to.equal(422);
          expect(member(reply.body, 'errors')).to.have.all.keys('email_verified');
        }
        expect(await read(id)).to.equal(false);
      });
    }

    it('is absent after another email, and what is said of it where something is said', async () => {
      const id = await created({ email_verified: true });
      expect(shown(await put(id, { data: '1' }))).to.equal(true);
      expect(shown(await put(id, { email: anEmail() }))).to.equal(undefined);
      expect(shown(await put(id, { email: anEmail(), email_verified: true }))).to.equal(true);
      expect(shown(await put(id, { email: anEmail(), email_verified: true }))).to.equal(true);
      expect(shown(await put(id, { email: anEmail(), email_verified: false }))).to.equal(false);
      expect(shown(await put(id, { email: anEmail() }))).to.equal(undefined);
    });

    it('stays with the same email, also in capitals', async () => {
      const email = anEmail();
      const id = await created({ email, email_verified: true });
      expect(shown(await put(id, { email: email.toUpperCase(), data: '2' }))).to.equal(true);
    });

    it('changes the version of the record', async () => {
      const id = await created();
      const before = await api.call('GET', `/users/${id}`);
      const headers = { 'If-Match': before.headers.get('etag') ?? '' };
      expect((await put(id, { email_verified: true }, { headers })).status).to.equal(200);
      expect((await put(id, { email_verified: false }, { headers })).status).to.equal(412);
    });

    it('is a change that a policy sees, also the stored value together with another email', async () => {
      const expression = 'changes.all(field, field in ["email", "data"])';
      const link = [{ resourceType: 'Client', id: 'support' }];
      await api.declare('default', [
        { kind: 'Client', id: 'support', grant_types: ['client_credentials'], secret: 'support-secret' },
        {
          kind: 'AccessPolicy',
          id: 'support',
          engine: 'cel',
          link,
          expression: `uri.startsWith("/users") && ${expression}`,
        },
      ]);
      const token = String(member((await api.requestToken('support', 'support-secret')).body, 'access_token'));
      const id = await created({ email_verified: true });
      const cases: readonly [object, number][] = [
        [{ email_verified: false }, 403],
        [{ email: anEmail(), email_verified: true }, 403],
        [{ data: '1', email_verified: true }, 200],
        [{ email: anEmail() }, 200],
      ];
      for (const [body, status] of cases) {
        expect((await put(id, body, { token })).status, JSON.stringify(body)).to.equal(status);
      }
      expect(await read(id)).to.equal(undefined);
    });
  });

  describe('with the token of the same user', () => {
    const tries: Readonly<Record<string, (email: string) => CallOptions>> = {
      'said to be true': () => ({ body: { email_verified: true } }),
      'said to be true beside another field': () => ({ body: { data: '1', email_verified: true } }),
      'said to be true of another email': () => ({ body: { email: anEmail(), email_verified: true } }),
      'said to be true of the same email': (email) => ({ body: { email, email_verified: true } }),
      'named twice, at last true': () => ({ body: '{"email_verified": false, "email_verified": true}' }),
      'said to be true in YAML': () => ({ body: 'email_verified: true\n', type: 'application/yaml' }),
      'said to be yes in YAML': () => ({ body: 'email_verified: yes\n', type: 'application/yaml' }),
      'said to be true in a patch': () => ({ body: { email_verified: true }, type: 'application/merge-patch+json' }),
      'in capitals': () => ({ body: { Email_Verified: true } }),
      'in the data': () => ({ body: { data: '{"email_verified": true}' } }),
      'of a prototype': () => ({ body: '{"__proto__": {"email_verified": true}}' }),
    };
    for (const [what, options] of Object.entries(tries)) {
      for (const before of [false, undefined]) {
        it(`is never true: ${what}, ${before === undefined ? 'absent' : 'false'} before`, async () => {
          const email = anEmail();
          const id = await created({ email, ...(before === false && { email_verified: false }) });
          const token = await tokenOf(id);
          for (const method of ['PUT', 'PATCH', 'POST']) {
            const { status, text } = await api.call(method, `/users/${id}`, { token, ...options(email) });
            expect(status, text).to.be.lessThan(500);
            expect(await read(id), method).to.not.equal(true);
          }
        });
      }
    }

    it('is 403 with the field and what to do, and nothing is stored', async () => {
      const id = await created({ email_verified: false });
      const reply = await put(id, { data: '"new"', email_verified: true }, { token: await tokenOf(id) });
      expect(reply.status).to.equal(403);
      expect(reply.text).to.contain('email_verified').and.contain('leave it out');
      expect(member((await api.call('GET', `/users/${id}`)).body, 'data')).to.equal(null);
      expect((await put(id, { email_verified: 'x' }, { token: await tokenOf(id) })).status).to.equal(403);
    });

    it('is not taken back to false either, nor from absent', async () => {
      for (const fields of [{ email_verified: true }, {}]) {
        const id = await created(fields);
        expect((await put(id, { email_verified: false }, { token: await tokenOf(id) })).status).to.equal(403);
      }
    });

    it('is taken as it was read', async () => {
      for (const fields of [{ email_verified: true }, { email_verified: false }, {}]) {
        const id = await created(fields);
        const token = await tokenOf(id);
        const { body } = await api.call('GET', `/users/${id}`, { token });
        const reply = await put(id, { ...Object(body), data: '1' }, { token });
        expect([reply.status, shown(reply)]).to.deep.equal([200, member(fields, 'email_verified')]);
      }
    });

    for (const fields of [{ email_verified: true }, {}]) {
      it(`is false after another email, and after the old one again (${JSON.stringify(fields)} before)`, async () => {
        const email = anEmail();
        const id = await created({ email, ...fields });
        const token = await tokenOf(id);
        expect(shown(await put(id, { email: anEmail() }, { token }))).to.equal(false);
        expect(shown(await put(id, { email }, { token }))).to.equal(false);
        expect(shown(await put(id, { email_verified: true }))).to.equal(true);
      });
    }

    it('is a right over other users, who do have to trust the holder', async () => {
      const [id, other] = [await created(), await created()];
      const link = [{ resourceType: 'User', id }];
      await api.declare('default', [{ kind: 'AccessPolicy', id: 'of-one', engine: 'allow', link }]);
      const token = await tokenOf(id);
      expect((await put(id, { email_verified: true }, { token })).status).to.equal(403);
      expect(shown(await put(other, { email_verified: true }, { token }))).to.equal(true);
    });
  });

  it('is never said of an email that came meanwhile', async () => {
    const [email, theirs] = [anEmail(), anEmail()];
    const id = await created({ email, email_verified: true });
    const { body } = await api.call('GET', `/users/${id}`);
    const update = `UPDATE boxgate.user SET email = $1, email_key = $1, email_verified = false
                     WHERE box = 'default' AND id = $2`;
    // It reads the email of before, and waits for the row.
    const reply = await meanwhile(api, [[update, [theirs, id]]], () => put(id, { ...Object(body), data: '1' }));
    expect([reply.status, member(reply.body, 'email'), shown(reply)]).to.deep.equal([200, email, true]);
  });

  describe('of a user who registered', () => {
    async function registered(box: string): Promise<{ id: string; email: string }> {
      const email = anEmail();
      const { status } = await newBrowser(api, box).submit('/auth/signup', { email, password });
      expect(status).to.be.oneOf([200, 303]);
      const statement = 'SELECT id FROM boxgate.user WHERE box = $1 AND email = $2';
      const [row] = await ownerQuery({ database: api.databaseOf(box) }, statement, [box, email]);
      return { id: String(row?.['id']), email };
    }

    /** Changes a user of the box whose registrations wait for an administrator. */
    async function inOther(id: string, body?: object): Promise<Reply> {
      const token = String(member((await api.requestToken('admin', 'admin-secret', 'other')).body, 'access_token'));
      const path = `/../other/users/${id}`;
      return api.call(body === undefined ? 'GET' : 'PUT', path, { token, ...(body && { body }) });
    }

    it('is false, also after the user was disabled and enabled again', async () => {
      const { id } = await registered('default');
      expect(await read(id)).to.equal(false);
      for (const status of ['inactive', 'active', 'inactive', null]) await put(id, { status });
      expect(await read(id)).to.equal(false);
    });

    for (const status of ['active', null]) {
      it(`is true once an administrator has approved, with the status ${JSON.stringify(status)}`, async () => {
        const { id } = await registered('other');
        expect(shown(await inOther(id))).to.equal(false);
        expect(shown(await inOther(id, { data: '1' }))).to.equal(false);
        expect(shown(await inOther(id, { status }))).to.equal(true);
        // It is approved once.
        await inOther(id, { email_verified: false });
        for (const again of ['inactive', 'active']) await inOther(id, { status: again });
        expect(shown(await inOther(id))).to.equal(false);
      });
    }

    it('is what is said with the approval, and absent for another email', async () => {
      const [one, two] = [await registered('other'), await registered('other')];
      expect(shown(await inOther(one.id, { status: 'active', email_verified: false }))).to.equal(false);
      expect(shown(await inOther(two.id, { status: 'active', email: anEmail() }))).to.equal(undefined);
    });
  });
});
