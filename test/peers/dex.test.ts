import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { parse } from 'yaml';
import { isObject } from '../../crds/path.ts';
import { blocksOf, clientOf } from '../support/page-block.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { joinGroups } from './membership.ts';
import { newVisitor } from './visitor.ts';

const secret = 'a secret: with + and / and %';
const callback = 'https://dex.example/callback';
const [manifest = '', connector = ''] = blocksOf('guides/add-sign-in.md', 'Apps behind Dex', 'yaml');
const { scopes, userNameKey } = configOf(connector);
/** It always requests `openid`. */
const scope = ['openid', ...scopes].join(' ');

/** Returns what a connector of Dex is told to request and to read. Throws if it does not say so. */
function configOf(text: string): { readonly scopes: readonly string[]; readonly userNameKey: string } {
  const value: unknown = parse(text);
  const all = isObject(value) && Array.isArray(value['connectors']) ? value['connectors'] : [];
  const [first] = all.filter(isObject);
  const config = isObject(first?.['config']) ? first['config'] : {};
  const { scopes: listed, userNameKey: key, insecureEnableGroups } = config;
  if (!Array.isArray(listed) || typeof key !== 'string' || insecureEnableGroups !== true) throw new TypeError(text);
  return { scopes: listed.map(String), userNameKey: key };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Boxgate as the upstream provider of Dex: the requests of its connector `oidc`
 * (https://dexidp.io/docs/connectors/oidc/), which uses coreos/go-oidc and golang.org/x/oauth2, with the configuration
 * of docs/guides/add-sign-in.md. `make peers` has Dex itself, which is built from a clone of its repository.
 */
describe('Dex with Boxgate as the upstream of its connector oidc', () => {
  let box: HttpsBox;
  let metadata: Fields;

  withHttpsBox((started) => (box = started));
  before(async () => {
    await box.api.declare('default', [clientOf(manifest, secret)]);
    await joinGroups(box, ['shop', 'staff']);
    const response = await fetch(`${box.issuer}/.well-known/openid-configuration`);
    metadata = objectOf(await response.json());
    // go-oidc refuses a provider with another issuer than the configured one.
    expect(metadata['issuer']).to.equal(box.issuer);
  });

  function objectOf(value: unknown): Fields {
    if (!isObject(value)) throw new TypeError(`no object: ${JSON.stringify(value)}`);
    return value;
  }

  /** Begins as `LoginURL` does: a session that Dex may renew asks for offline access and for consent. */
  function loginUrl(offline: boolean): URL {
    const url = new URL(String(metadata['authorization_endpoint']));
    const fields = { client_id: 'dex', redirect_uri: callback, response_type: 'code', scope, state: 'of dex' };
    const more = offline ? { access_type: 'offline', prompt: 'consent' } : {};
    const asked = offline ? { ...fields, scope: `${scope} offline_access` } : fields;
    for (const [name, value] of Object.entries({ ...asked, ...more })) url.searchParams.set(name, value);
    return url;
  }

  /** Calls the token endpoint as x/oauth2 does at first: with form-encoded credentials in `Authorization`. */
  async function tokens(fields: Readonly<Record<string, string>>): Promise<Fields> {
    const credentials = `dex:${encodeURIComponent(secret).replaceAll('%20', '+')}`;
    const response = await fetch(String(metadata['token_endpoint']), {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams(fields),
    });
    const body = objectOf(await response.json());
    expect(response.status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  async function signedIn(offline: boolean): Promise<Fields> {
    const { url } = await newVisitor().visit(loginUrl(offline), ({ href }) => href.startsWith(callback));
    expect(url.searchParams.get('state')).to.equal('of dex');
    const code = url.searchParams.get('code') ?? '';
    return tokens({ grant_type: 'authorization_code', code, redirect_uri: callback });
  }

  /** Reads an identity as `createIdentity` does. Throws where Dex refuses the sign-in. */
  async function identityOf(answer: Fields): Promise<Fields> {
    const keys = createRemoteJWKSet(new URL(String(metadata['jwks_uri'])));
    const { payload } = await jwtVerify(String(answer['id_token']), keys, { issuer: box.issuer, audience: 'dex' });
    for (const name of [userNameKey, 'email']) {
      if (typeof payload[name] !== 'string') throw new Error(`missing "${name}" claim`);
    }
    if (typeof payload['email_verified'] !== 'boolean') throw new Error('missing "email_verified" claim');
    const { sub, preferred_username, email, email_verified, groups } = payload;
    return { sub, preferred_username, email, email_verified, groups };
  }

  const identity = (groups: readonly string[], email_verified: boolean): Fields => ({
    ...{ sub: box.user, preferred_username: ann.email, email: ann.email },
    ...{ email_verified, groups },
  });

  it('refuses a person whose email nobody says to be verified, and reads the rest once somebody does', async () => {
    const unverified = await identityOf(await signedIn(false)).then(String, String);
    expect(unverified).to.equal('Error: missing "email_verified" claim');
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    expect(await identityOf(await signedIn(false))).to.deep.equal(identity(['shop', 'staff'], true));
  });

  it('reads the same at userinfo, with getUserInfo', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    const { access_token } = await signedIn(false);
    const response = await fetch(String(metadata['userinfo_endpoint']), {
      headers: { Authorization: `Bearer ${String(access_token)}` },
    });
    expect(await response.json()).to.deep.include({ ...identity(['shop', 'staff'], true) });
  });

  it('renews the identity with offline access, with the groups of that moment', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    const first = await signedIn(true);
    expect(await identityOf(first)).to.deep.equal(identity(['shop', 'staff'], true));
    await joinGroups(box, ['night']);
    const again = await tokens({ grant_type: 'refresh_token', refresh_token: String(first['refresh_token']) });
    expect(await identityOf(again)).to.deep.equal(identity(['night'], true));
  });
});
