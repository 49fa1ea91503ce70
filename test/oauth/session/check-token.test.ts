import { expect } from 'chai';
import { makeSessionId } from '../../../api/credentials/token-text.ts';
import { uuidText } from '../../../program/text.ts';
import type { FoundSession } from '../../../api/db/hot/check.ts';
import { validateSession } from '../../../api/oauth/session/check-token.ts';
import type { BoxState, ClientState } from '../../../api/box/box-state.ts';
import { requestableScopes } from '../../../api/box/scopes.ts';

const begun = 1_700_000_000_123;
const now = begun + 60_000;
const key = { box: 'default', bucket: 19_700, id: makeSessionId(19_700, begun), hash: 'ab'.repeat(32) };

/** A session decided under version 5. */
const session: FoundSession = {
  version: 5,
  expiresAt: Math.floor(now / 1000) + 1,
  type: 'c',
  grant: 'c',
  client: 'a',
  user: null,
  scope: 'read',
  audience: ['x'],
  family: null,
  ended: false,
};

type Validated = Pick<BoxState, 'sessionsFrom' | 'revokedBefore' | 'settings'> & {
  readonly owner: ClientState | undefined;
};

function box(over: Partial<Validated> = {}, client: Partial<ClientState> = {}, active?: boolean): Validated {
  const held: ClientState = {
    client: {
      resourceType: 'Client',
      id: 'a',
      grant_types: ['client_credentials'],
      ...(active === undefined ? {} : { active }),
    },
    scopes: requestableScopes({ scope: [] }, true),
    changedIn: 0,
    secrets: [],
    previous: undefined,
    sessionsFrom: 0,
    revokedBefore: undefined,
    ...client,
  };
  return {
    owner: held,
    sessionsFrom: 0,
    revokedBefore: undefined,
    settings: { resourceType: 'Box', id: 'default' },
    ...over,
  };
}

const off = { resourceType: 'Box', id: 'default', active: false } as const;

const rows: Record<string, { session?: Partial<FoundSession>; box?: Validated; lives: boolean }> = {
  'a session like any other': { lives: true },
  'a session that has ended': { session: { ended: true }, lives: false },
  'a session in its last second': { session: { expiresAt: Math.ceil(now / 1000) }, lives: true },
  'a session at its end': { session: { expiresAt: Math.floor(now / 1000) }, lives: false },
  'T-32 a client that is gone': { box: box({ owner: undefined }), lives: false },
  'a refreshed session without a family': { session: { type: 'r', grant: null }, lives: false },
  'a client that is switched off': { box: box({}, {}, false), lives: false },
  'a client that is switched on': { box: box({}, {}, true), lives: true },
  'a box that is switched off': { box: box({ settings: off }), lives: false },
  'a client whose sessions count since the very version': { box: box({}, { sessionsFrom: 5 }), lives: true },
  'a client created again since': { box: box({}, { sessionsFrom: 6 }), lives: false },
  'a box whose sessions count since the very version': { box: box({ sessionsFrom: 5 }), lives: true },
  'a box whose sessions were all revoked since': { box: box({ sessionsFrom: 6 }), lives: false },
  'a client whose sessions were revoked before it began': { box: box({}, { revokedBefore: begun }), lives: true },
  'a client whose sessions were revoked after it began': { box: box({}, { revokedBefore: begun + 1 }), lives: false },
  'a box whose sessions were revoked before it began': { box: box({ revokedBefore: begun }), lives: true },
  'a box whose sessions were revoked after it began': { box: box({ revokedBefore: begun + 1 }), lives: false },
};

function validate(
  over: Partial<FoundSession> = {},
  { owner, ...state }: Validated = box(),
  hash: string | null = key.hash,
) {
  return validateSession({ ...key, hash }, { ...session, ...over }, { owner, state, now });
}

describe('the validation of a stored session', () => {
  for (const [what, row] of Object.entries(rows)) {
    it(`${what} ${row.lives ? 'lives' : 'is refused'}`, () => {
      const live = validate(row.session, row.box);
      expect(live !== undefined).to.equal(row.lives);
    });
  }

  it('gives what a token stands for, times in whole seconds', () => {
    const { client, ...live } = validate() ?? {};
    expect(client?.id).to.equal('a');
    expect(live).to.deep.equal({
      id: uuidText(key.id),
      user: null,
      type: 'c',
      grant: 'c',
      scope: 'read',
      audience: ['x'],
      issuedAt: 1_700_000_000,
      expiresAt: session.expiresAt,
      format: 'opaque',
    });
  });

  it('knows a JWT by having no hash', () => {
    expect(validate({}, box(), null)?.format).to.equal('jwt');
  });
});
