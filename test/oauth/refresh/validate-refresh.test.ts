import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  familyHash,
  firstRefreshToken,
  nextRefreshToken,
  sealSuccessor,
  tokenHash,
} from '../../../api/credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../../api/credentials/refresh-token-text.ts';
import type { RefreshFamily } from '../../../api/db/session/refresh-family.ts';
import { validateRefresh, rotationGrace } from '../../../api/oauth/refresh/validate-refresh.ts';
import type { RefreshVerdict } from '../../../api/oauth/refresh/validate-refresh.ts';
import type { BoxState, ClientState } from '../../../api/box/box-state.ts';
import { requestableScopes } from '../../../api/box/scopes.ts';

const now = 1_000_000_000;
const first = firstRefreshToken(randomUUID().replaceAll('-', ''));
const second = nextRefreshToken(first);
const third = nextRefreshToken(second);

/** A family whose second token counts, since a second ago; it began under version 5. */
const family: RefreshFamily = {
  id: randomUUID(),
  client: 'a',
  user: null,
  grant: 'c',
  userGone: false,
  person: null,
  authenticatedAt: null,
  version: 5,
  familyHash: familyHash(first),
  tokenHash: tokenHash(second),
  generation: 1,
  successor: sealSuccessor(second, first),
  rotatedAt: now - 1000,
  session: randomUUID(),
  scope: null,
  audience: null,
  createdAt: now - 10_000,
  expiresAt: now + 1,
  endsAt: now + 1,
  ended: false,
};

type BoxTimes = Pick<BoxState, 'sessionsFrom' | 'revokedBefore' | 'settings'>;

const box: BoxTimes = {
  sessionsFrom: 0,
  revokedBefore: undefined,
  settings: { resourceType: 'Box', id: 'default' },
};

function client(over: Partial<ClientState> = {}, settings: object = { refresh_token: true }): ClientState {
  const auth = { client_credentials: settings };
  return {
    client: { resourceType: 'Client', id: 'a', grant_types: ['client_credentials'], auth },
    scopes: requestableScopes({ scope: [] }, true),
    changedIn: 0,
    secrets: [],
    previous: undefined,
    sessionsFrom: 0,
    revokedBefore: undefined,
    ...over,
  };
}

const rotating = client({}, { refresh_token: true, refresh_rotation: true });

interface Row {
  readonly token?: RefreshToken;
  readonly family?: Partial<RefreshFamily>;
  readonly client?: ClientState;
  readonly box?: Partial<BoxTimes>;
  readonly verdict: RefreshVerdict;
}

const rows: Record<string, Row> = {
  'the token that counts': { verdict: 'slide' },
  'the token that counts, of a client that rotates': { client: rotating, verdict: 'rotate' },
  'the token before it, a moment later': { token: first, verdict: 'repeat' },
  'the token before it, at the end of the grace': {
    token: first,
    family: { rotatedAt: now - rotationGrace },
    verdict: 'repeat',
  },
  'T-41 the token before it, after the grace': {
    token: first,
    family: { rotatedAt: now - rotationGrace - 1 },
    verdict: 'reused',
  },
  'T-42 an older token, within the same millisecond': {
    token: first,
    family: { generation: 2, tokenHash: tokenHash(third), successor: sealSuccessor(third, second), rotatedAt: now },
    verdict: 'reused',
  },
  'T-42 the token before it, when the clock went back': {
    token: first,
    family: { rotatedAt: now + 60_000 },
    verdict: 'repeat',
  },
  'a token before it that was never made': {
    token: { ...first, tokenSecret: Buffer.alloc(32) },
    verdict: 'reused',
  },
  'a token that is not made yet': { token: third, verdict: 'refused' },
  'a token that counts, with a guessed secret': {
    token: { ...second, tokenSecret: Buffer.alloc(32) },
    verdict: 'refused',
  },
  'an old token with a guessed family secret: no stranger ends a family': {
    token: { ...first, familySecret: Buffer.alloc(16) },
    verdict: 'refused',
  },
  'the token of another client': { family: { client: 'b' }, verdict: 'refused' },
  'an old token of another client': { token: first, family: { client: 'b', rotatedAt: 0 }, verdict: 'refused' },
  'a family whose user was disabled, is gone or has a new password': { family: { userGone: true }, verdict: 'refused' },
  'a family that has ended': { family: { ended: true }, verdict: 'refused' },
  'a family that has not been used for too long': { family: { expiresAt: now }, verdict: 'refused' },
  'T-44 a family at its absolute end': { family: { endsAt: now }, verdict: 'refused' },
  'an old token of a family that is over': {
    token: first,
    family: { rotatedAt: 0, expiresAt: now },
    verdict: 'refused',
  },
  'a client whose sessions count since the family began': { client: client({ sessionsFrom: 5 }), verdict: 'slide' },
  'a client created again since': { client: client({ sessionsFrom: 6 }), verdict: 'refused' },
  'a box whose sessions count since the family began': { box: { sessionsFrom: 5 }, verdict: 'slide' },
  'a box that was off since': { box: { sessionsFrom: 6 }, verdict: 'refused' },
  'a client revoked before the family began': {
    client: client({ revokedBefore: now - 10_000 }),
    verdict: 'slide',
  },
  'a client revoked after the family began': { client: client({ revokedBefore: now - 9_999 }), verdict: 'refused' },
  'a box revoked before the family began': { box: { revokedBefore: now - 10_000 }, verdict: 'slide' },
  'a box revoked after the family began': { box: { revokedBefore: now - 9_999 }, verdict: 'refused' },
  'a client that gets no refresh tokens any more': { client: client({}, {}), verdict: 'suspended' },
  'a client whose refresh tokens are off': { client: client({}, { refresh_token: false }), verdict: 'suspended' },
  'an old token of a client whose refresh tokens are off': {
    token: first,
    family: { rotatedAt: 0 },
    client: client({}, { refresh_token: false }),
    verdict: 'reused',
  },
  'R-18 a client that no longer lists the grant': { family: { grant: 'a' }, verdict: 'suspended' },
  'R-18 a box that has a shorter limit now': {
    client: client({}, { refresh_token: true, refresh_token_expiration: 5 }),
    box: { settings: { resourceType: 'Box', id: 'default', tokens: { max_refresh_lifetime: 9 } } },
    verdict: 'suspended',
  },
  'a client that no longer rotates': { verdict: 'slide' },
};

describe('the validation of a refresh token', () => {
  for (const [what, row] of Object.entries(rows)) {
    it(`${what}: ${row.verdict}`, () => {
      const found = validateRefresh(
        { ...family, ...row.family },
        { token: row.token ?? second, client: row.client ?? client(), now },
        { ...box, ...row.box },
      );
      expect(found).to.equal(row.verdict);
    });
  }
});
