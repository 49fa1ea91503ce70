import { expect } from 'chai';
import { sessionParts, userFields } from '../../../api/http/access/session-parts.ts';
import { REQUEST_FIELDS } from '../../../api/policy/request-fields.ts';
import { sessionElements, sessionView } from '../../../api/records/session.ts';

describe('sessionParts', () => {
  const id = '01a1fdf7-f6b9-76ce-bd0c-0fcca92888cf';
  const begun = Date.parse('2026-11-21T11:57:28.633Z');
  const audience = ['https://orders.example.com'];
  const expiresAt = Math.floor(begun / 1000) + 600;

  it('shows policies the session as REST shows it, to the millisecond, without what they are not to see', () => {
    const { session } = sessionParts(
      {
        id,
        client: { resourceType: 'Client', id: 'orders', grant_types: ['client_credentials'] },
        user: null,
        type: 'c',
        grant: 'c',
        scope: 'read',
        audience,
        issuedAt: Math.floor(begun / 1000),
        expiresAt,
        format: 'opaque',
      },
      'https://boxgate.test/boxes/default',
    );
    const shown = sessionView({
      id,
      bucket: 1,
      type: 'c',
      client: 'orders',
      user: undefined,
      scope: 'read',
      audience,
      status: 'active',
      expiresAt: expiresAt * 1000,
      endedAt: undefined,
      family: undefined,
      parent: undefined,
      remoteAddr: undefined,
      userAgent: undefined,
    });
    const kept = sessionElements.filter((name) => !['parent', 'remote_addr', 'user_agent'].includes(name));
    expect(shown.created_at).to.equal(new Date(begun).toISOString());
    expect(session).to.deep.equal(Object.fromEntries(kept.map((name) => [name, Reflect.get(shown, name)])));
  });

  it('has the fields that a policy may name, and no others', () => {
    const user = { id: 1, email: 'a@b.example', email_verified: true, data: '1', groups: null };
    const client = { resourceType: 'Client' as const, id: 'web', grant_types: [] };
    const grant = { type: 'a', grant: 'a', scope: 'boxgate', audience } as const;
    const times = { issuedAt: Math.floor(begun / 1000), expiresAt };
    const parts = sessionParts({ id, client, user, ...grant, ...times, format: 'opaque' }, 'https://b.test');
    for (const part of ['user', 'session', 'token'] as const)
      expect(Object.keys(parts[part] ?? {}), part).to.have.members([...REQUEST_FIELDS[part]]);
    expect(REQUEST_FIELDS.client).to.include.members(Object.keys(client));
  });

  it('R-41 shows policies the data of a user so that no two whole numbers become one', () => {
    const shown = (data: string) =>
      userFields({ id: 1, email: 'a@b.example', email_verified: null, data, groups: null })['data'];
    expect(
      shown('{"n": 9007199254740993, "m": [-9007199254740993, 9007199254740991, 1.5], "t": "9007199254740993"}'),
    ).to.deep.equal({
      n: '9007199254740993',
      m: ['-9007199254740993', 9007199254740991, 1.5],
      t: '9007199254740993',
    });
    expect(shown('{"a": 1, "a": 2}')).to.deep.equal({ a: 2 });
    expect(shown('{"__proto__": {"x": 1}, "n": 9007199254740993}')).to.have.own.property('__proto__');
  });
});
