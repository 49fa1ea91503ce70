import { expect } from 'chai';
import type { Box } from '../../../crds/box.ts';
import type { Client } from '../../../crds/client.ts';
import { planAccessToken, planGrantedToken, planRefreshedToken } from '../../../api/oauth/token/plan.ts';
import type { GrantSettings } from '../../../api/oauth/token/plan.ts';
import type { RequestedAccess } from '../../../api/oauth/token/requested-access.ts';
import { defaultScope, requestableScopes } from '../../../api/box/scopes.ts';
import type { TokenSubject } from '../../../api/box/scopes.ts';
import { refusalOf } from '../refusal.ts';

const client: Client = { resourceType: 'Client', id: 'a', grant_types: ['client_credentials'] };
const sentence = { en: 'do it' };
const box: Box = { resourceType: 'Box', id: 'default', scopes: { read: sentence, write: sentence, other: sentence } };
const issuer = 'https://issuer';
const nothing: RequestedAccess = { audience: undefined, scope: undefined };
const plan = (
  settings: GrantSettings,
  over: { client?: Partial<Client>; tokens?: Box['tokens']; asked?: Partial<RequestedAccess>; subject?: TokenSubject },
) =>
  planAccessToken(
    {
      settings,
      scopes: requestableScopes({ ...client, ...over.client }, true),
      box: over.tokens === undefined ? box : { ...box, tokens: over.tokens },
      issuer,
      subject: over.subject ?? 'client',
    },
    { ...nothing, ...over.asked },
  );

describe('the plan of an access token', () => {
  it('is opaque, for 30 days that nobody is told of, for the issuer, without scope', () => {
    expect(plan({}, {})).to.deep.equal({
      format: 'opaque',
      lifetime: 30 * 86_400,
      expiresIn: undefined,
      audience: null,
      scope: null,
    });
  });

  const lifetimes = [
    { settings: { access_token_expiration: 60 }, tokens: {}, lifetime: 60, expiresIn: 60 },
    { settings: {}, tokens: { default_access_token_expiration: 70 }, lifetime: 70, expiresIn: 70 },
    { settings: {}, tokens: { default_lifetime: 80 }, lifetime: 80, expiresIn: undefined },
    {
      settings: {},
      tokens: { default_access_token_expiration: 70, default_lifetime: 80 },
      lifetime: 70,
      expiresIn: 70,
    },
    {
      settings: { access_token_expiration: 60 },
      tokens: { default_access_token_expiration: 70, default_lifetime: 80 },
      lifetime: 60,
      expiresIn: 60,
    },
  ];
  for (const { settings, tokens, lifetime, expiresIn } of lifetimes) {
    it(`lives ${String(lifetime)} seconds with ${JSON.stringify({ ...settings, ...tokens })}`, () => {
      expect(plan(settings, { tokens })).to.deep.include({ lifetime, expiresIn });
    });
  }

  const audiences = [
    { allowed: undefined, asked: undefined, planned: null },
    { allowed: undefined, asked: 'https://any.example', planned: ['https://any.example'] },
    { allowed: ['x', 'y'], asked: undefined, planned: ['x'] },
    { allowed: ['x', 'y'], asked: 'y', planned: ['y'] },
    { allowed: ['x', 'y'], asked: 'z', planned: 'invalid_target' },
    { allowed: ['x', 'y'], asked: 'X', planned: 'invalid_target' },
    { allowed: undefined, asked: 'x'.repeat(1024), planned: ['x'.repeat(1024)] },
    { allowed: undefined, asked: 'x'.repeat(1025), planned: 'invalid_target' },
    { allowed: undefined, asked: 'two\nlines', planned: 'invalid_target' },
    { allowed: undefined, asked: undefined, listed: true, planned: null },
    { allowed: undefined, asked: issuer, listed: true, planned: null },
    { allowed: undefined, asked: 'https://any.example', listed: true, planned: 'invalid_target' },
    { allowed: ['x', 'y'], asked: 'y', listed: true, planned: ['y'] },
    { allowed: ['x', 'y'], asked: issuer, listed: true, planned: 'invalid_target' },
  ];
  for (const { allowed, asked, planned, listed = false } of audiences) {
    const must = listed ? ', which must be listed,' : '';
    it(`T-09 with ${shown(allowed)} allowed and ${shown(asked)} asked${must} is for ${shown(planned)}`, () => {
      const settings = allowed === undefined ? {} : { audience: allowed };
      const make = () => plan(settings, { asked: { audience: asked }, tokens: { require_listed_audience: listed } });
      if (typeof planned === 'string') expect(refusalOf(make)).to.equal(planned);
      else expect(make().audience).to.deep.equal(planned);
    });
  }

  const scopes = [
    { allowed: undefined, asked: undefined, planned: null },
    { allowed: undefined, asked: 'openid email', planned: 'openid email' },
    { allowed: undefined, asked: 'read', refused: true },
    { allowed: ['read', 'write'], asked: 'read', planned: 'read' },
    { allowed: ['read', 'write'], asked: 'write read write', planned: 'write read' },
    { allowed: ['read'], asked: 'read write', refused: true },
    { allowed: ['read'], asked: 'openid', refused: true },
    { allowed: ['read'], asked: 'unknown read other-unknown', planned: 'read' },
    { allowed: ['read'], asked: 'unknown', planned: null },
    { allowed: ['read'], asked: 'unknown write', refused: true },
    { allowed: ['read', 'unlisted'], asked: 'unlisted unknown', planned: 'unlisted' },
    { allowed: ['read'], asked: 'unknown read', rejects: true, refused: true },
    { allowed: ['read'], asked: 'read', rejects: true, planned: 'read' },
    { allowed: ['read'], asked: 'unknown  read', refused: true },
    { allowed: [], asked: 'read', refused: true },
    { allowed: ['read'], asked: 'read ', refused: true },
    { allowed: ['read'], asked: ' read', refused: true },
    { allowed: ['read'], asked: 'read  read', refused: true },
    { allowed: ['read'], asked: 're"ad', refused: true },
    { allowed: ['read'], asked: 'read\tread', refused: true },
    { allowed: ['read'], asked: 'réad', refused: true },
    { allowed: ['read'], asked: Array(900).fill('read').join(' '), refused: true },
  ];
  for (const { allowed, asked, planned, refused, rejects } of scopes) {
    const what = refused === true ? 'is refused' : `has the scope ${shown(planned)}`;
    const strictly = rejects === true ? ', which must be' : '';
    it(`with ${shown(allowed)} allowed and ${shown(asked)} asked${strictly} ${what}`, () => {
      const tokens = rejects === undefined ? undefined : { reject_unknown_scope: rejects };
      const over = { client: allowed === undefined ? {} : { scope: allowed }, asked: { scope: asked } };
      const make = () => plan({}, tokens === undefined ? over : { ...over, tokens });
      if (refused === true) expect(refusalOf(make)).to.equal('invalid_scope');
      else expect(make().scope).to.equal(planned);
    });
  }
});

describe('the plan of an access token of a user', () => {
  const audiences = [
    { allowed: undefined, asked: undefined, planned: null },
    { allowed: undefined, asked: issuer, planned: null },
    { allowed: undefined, asked: 'https://any.example', planned: 'invalid_target' },
    { allowed: ['x', issuer], asked: undefined, planned: ['x'] },
    { allowed: ['x', issuer], asked: issuer, planned: [issuer] },
    { allowed: ['x'], asked: issuer, planned: 'invalid_target' },
  ];
  for (const subject of ['user', 'user-by-password'] as const) {
    for (const { allowed, asked, planned } of audiences) {
      it(`R-07 with ${shown(allowed)} allowed and ${shown(asked)} requested by a ${subject} is for ${shown(planned)}`, () => {
        const settings = allowed === undefined ? {} : { audience: allowed };
        const make = () => plan(settings, { asked: { audience: asked }, subject });
        if (typeof planned === 'string') expect(refusalOf(make)).to.equal(planned);
        else expect(make().audience).to.deep.equal(planned);
      });
    }
  }

  const listed = ['read', 'boxgate'];
  const scopes: readonly [subject: TokenSubject, scope: string[] | undefined, isManaged: boolean, allowed: boolean][] =
    [
      ['user', undefined, false, true],
      ['user', listed, false, true],
      ['user', ['read'], true, false],
      ['user', [], true, false],
      ['user-by-password', undefined, true, false],
      ['user-by-password', listed, true, true],
      ['user-by-password', listed, false, false],
      ['client', undefined, true, false],
      ['client', listed, true, false],
    ];
  for (const [subject, scope, isManaged, allowed] of scopes) {
    const what = `${subject}, ${shown(scope)}, ${isManaged ? 'declared' : 'not declared'}`;
    it(`R-B1 ${allowed ? 'may have' : 'never has'} the scope boxgate: ${what}`, () => {
      const requestable = requestableScopes(scope === undefined ? client : { ...client, scope }, isManaged);
      const context = { settings: {}, scopes: requestable, box, issuer, subject };
      const make = () => planAccessToken(context, { ...nothing, scope: 'boxgate' });
      if (allowed) expect(make().scope).to.equal('boxgate');
      else expect(refusalOf(make)).to.equal('invalid_scope');
      expect(planAccessToken(context, nothing).scope).to.equal(null);
      // E-20: `openid` is in it where the client may have it; the password grant gives rights only on request.
      const isListed = scope?.includes('openid') === false ? [] : ['openid'];
      const expected = [...isListed, ...(subject === 'user' && allowed ? ['boxgate'] : [])];
      if (subject !== 'client') expect(defaultScope(requestable, subject)).to.equal(expected.join(' ') || undefined);
    });
  }

  const refreshes = { refresh_token: true };
  const code = { authorization_code: { redirect_uri: 'https://app.example/back', ...refreshes } };
  const own = { client_credentials: refreshes };
  const offline: readonly [
    subject: TokenSubject,
    scope: string[] | undefined,
    auth: Client['auth'],
    allowed: boolean,
  ][] = [
    ['user', undefined, undefined, true],
    ['user', ['openid'], code, true],
    ['user', ['openid', 'offline_access'], undefined, true],
    ['user', ['openid'], own, false],
    ['user', ['openid'], undefined, false],
    ['client', ['read'], own, true],
    ['client', ['read'], code, false],
    ['user-by-password', ['openid'], code, false],
  ];
  for (const [subject, scope, auth, allowed] of offline) {
    it(`${allowed ? 'may request' : 'never has'} offline_access: ${subject}, ${shown(scope)}, ${shown(auth)}`, () => {
      const requestable = requestableScopes({ ...client, ...(scope && { scope }), ...(auth && { auth }) }, true);
      const settings = (subject === 'client' ? auth?.client_credentials : auth?.authorization_code) ?? {};
      const context = { settings, scopes: requestable, box, issuer, subject };
      const make = () => planAccessToken(context, { ...nothing, scope: 'offline_access' });
      // E-33: it was granted without a refresh token.
      const isRefreshed = settings.refresh_token === true;
      if (allowed) expect(make().scope).to.equal(isRefreshed ? 'offline_access' : null);
      else expect(refusalOf(make)).to.equal('invalid_scope');
    });
  }

  it('R-07 of a code or a refresh is for the audience that was granted, never for one that is listed since', () => {
    const scopes = requestableScopes(client, true);
    const context = { settings: { audience: ['x'] }, scopes, box, issuer } as const;
    for (const granted of [null, ['y']]) {
      const what = { audience: granted, scope: null };
      const user = { ...context, subject: 'user' } as const;
      expect(refusalOf(() => planGrantedToken(user, nothing, what))).to.equal('invalid_target');
      expect(refusalOf(() => planRefreshedToken(user, nothing, what))).to.equal('invalid_target');
    }
  });

  it('R-B1 of a code or a refresh has no scope that was not granted', () => {
    const scopes = requestableScopes(client, true);
    const context = { settings: {}, scopes, box, issuer, subject: 'user' } as const;
    const granted = { audience: null, scope: null };
    expect(planGrantedToken(context, nothing, granted).scope).to.equal(null);
    expect(planRefreshedToken(context, nothing, granted).scope).to.equal(null);
    const wider = { ...nothing, scope: 'boxgate' };
    expect(refusalOf(() => planRefreshedToken(context, wider, granted))).to.equal('invalid_scope');
    const narrowed = planRefreshedToken(context, nothing, { audience: null, scope: 'openid boxgate' });
    expect(narrowed.scope).to.equal('openid boxgate');
  });
});

describe('the plan of a refreshed access token', () => {
  const refreshed = (
    granted: { audience: readonly string[] | null; scope: string | null },
    asked: Partial<RequestedAccess>,
    over: { audience?: readonly string[]; scope?: string[]; subject?: TokenSubject; tokens?: Box['tokens'] } = {},
  ) =>
    planRefreshedToken(
      {
        settings: over.audience === undefined ? {} : { audience: over.audience },
        scopes: requestableScopes(over.scope === undefined ? client : { ...client, scope: over.scope }, true),
        box: over.tokens === undefined ? box : { ...box, tokens: over.tokens },
        issuer,
        subject: over.subject ?? 'client',
      },
      { ...nothing, ...asked },
      granted,
    );

  it('always tells when it ends', () => {
    expect(refreshed({ audience: null, scope: null }, {}).expiresIn).to.equal(30 * 86_400);
  });

  const audiences = [
    { granted: null, asked: undefined, planned: null },
    { granted: null, asked: 'https://issuer', planned: ['https://issuer'] },
    { granted: null, asked: 'x', planned: 'invalid_target' },
    { granted: ['x'], asked: undefined, planned: ['x'] },
    { granted: ['x'], asked: 'x', planned: ['x'] },
    { granted: ['x'], asked: 'y', planned: 'invalid_target' },
    { granted: ['x'], asked: 'y', allowed: ['x', 'y'], planned: 'invalid_target' },
    { granted: ['x'], asked: undefined, allowed: ['y'], planned: 'invalid_target' },
    { granted: null, asked: undefined, allowed: ['y'], planned: 'invalid_target' },
    { granted: null, asked: undefined, allowed: ['y', 'https://issuer'], planned: ['https://issuer'] },
    { granted: null, asked: undefined, listed: true, planned: null },
    { granted: null, asked: issuer, listed: true, planned: null },
    { granted: ['x'], asked: undefined, listed: true, planned: 'invalid_target' },
    { granted: [issuer], asked: undefined, listed: true, planned: null },
    { granted: ['x'], asked: undefined, listed: true, allowed: ['x'], planned: ['x'] },
  ];
  for (const { granted, asked, allowed, planned, listed = false } of audiences) {
    const lists = allowed === undefined ? '' : `, now only ${JSON.stringify(allowed)} allowed`;
    const now = listed ? `${lists}, which must be listed` : lists;
    it(`granted for ${shown(granted)}, asked for ${shown(asked)}${now}: ${shown(planned)}`, () => {
      const tokens = { require_listed_audience: listed };
      const over = allowed === undefined ? { tokens } : { tokens, audience: allowed };
      const make = () => refreshed({ audience: granted, scope: null }, { audience: asked }, over);
      if (typeof planned === 'string') expect(refusalOf(make)).to.equal(planned);
      else expect(make().audience).to.deep.equal(planned);
    });
  }

  const scopes = [
    { granted: null, asked: undefined, planned: null },
    { granted: null, asked: 'read', refused: true },
    { granted: 'read write', asked: undefined, planned: 'read write' },
    { granted: 'read write', asked: 'write', planned: 'write' },
    { granted: 'read', asked: 'read write', refused: true },
    { granted: 'read write', asked: undefined, allowed: ['read'], planned: 'read' },
    { granted: 'read write', asked: 'write', allowed: ['read'], refused: true },
    { granted: 'read write', asked: undefined, allowed: ['other'], refused: true },
    { granted: 'read', asked: 'read  ', refused: true },
    { granted: 'read write', asked: 'unknown write', planned: 'write' },
    { granted: 'read write', asked: 'unknown', planned: null },
    { granted: null, asked: 'unknown', planned: null },
    { granted: 'read', asked: 'unknown', allowed: ['other'], refused: true },
    { granted: 'read', asked: 'unknown read', rejects: true, refused: true },
  ];
  for (const { granted, asked, allowed = ['read', 'write'], planned, refused, rejects = false } of scopes) {
    const what = refused === true ? 'refused' : shown(planned);
    const now = `${JSON.stringify(allowed)} allowed${rejects ? ', unknown scopes rejected' : ''}`;
    it(`T-44 granted ${shown(granted)}, asked ${shown(asked)}, now ${now}: ${what}`, () => {
      const over = { scope: allowed, tokens: { reject_unknown_scope: rejects } };
      const make = () => refreshed({ audience: null, scope: granted }, { scope: asked }, over);
      if (refused === true) expect(refusalOf(make)).to.equal('invalid_scope');
      else expect(make().scope).to.equal(planned);
    });
  }
});

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? 'nothing');
  return text.length > 40 ? `${text.slice(0, 20)}… of ${String(text.length)} characters` : text;
}
