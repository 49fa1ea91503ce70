import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { sendRequest } from '../../http/raw-http.ts';
import { newBrowser } from '../../http/pages/browser.ts';
import { readReply } from '../../oauth/requests.ts';
import { claimEpoch } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { isLet } from './ground.ts';
import type { Ground, Story } from './ground.ts';
import { newUser, theirPassword, tokensOfUser } from './people.ts';

const files = 'https://files.example';

/** A box with these settings lets something; with the others it does not. */
function ofBox(
  before: object,
  after: object,
  using: (ground: Ground) => Promise<(api: TestApi) => Promise<boolean>>,
): Story {
  return async (ground) => {
    await ground.settings(before);
    return { use: await using(ground), withdraw: () => ground.settings(after) };
  };
}

async function opening(ground: Ground, fields: object = {}, asked: Readonly<Record<string, string>> = {}) {
  await ground.app(fields);
  const { access } = await ground.tokens(asked);
  return (api: TestApi) => ground.opens(api, access);
}

async function refreshing(ground: Ground, isProven = true) {
  const settings = { refresh_token: true, refresh_token_expiration: 600 };
  await ground.app({ auth: { client_credentials: settings } });
  const { refresh } = await ground.tokens();
  return (api: TestApi) => ground.refreshes(api, refresh, isProven);
}

/** Registers somebody new, and looks at what became of them. */
function registering(domain: string, became: (ground: Ground, api: TestApi, email: string) => Promise<boolean>) {
  let nth = 0;
  return (ground: Ground) =>
    Promise.resolve(async (api: TestApi) => {
      const email = `new-${String((nth += 1))}@${domain}`;
      const { status, text } = await newBrowser(api, ground.box).submit('/auth/signup', {
        email,
        password: theirPassword,
      });
      return status < 400 ? became(ground, api, email) : isLet({ status, text }, 303, [404, 422]);
    });
}

const isThere = (): Promise<boolean> => Promise.resolve(true);

async function isMember({ one, box }: Ground, _api: TestApi, email: string): Promise<boolean> {
  const statement = `SELECT 1 FROM boxgate."user" u JOIN boxgate.group_member m ON m.box = u.box AND m.user_id = u.id
    WHERE u.box = $1 AND u.email = $2`;
  return (await ownerQuery(one, statement, [box, email])).length > 0;
}

async function signsIn({ box }: Ground, api: TestApi, email: string): Promise<boolean> {
  const answer = await newBrowser(api, box).submit('/auth/signin', { email, password: theirPassword });
  return answer.status === 303;
}

const enabled = { enabled: true };
const strict = { compatibility: { profile: 'strict' } };
const without = (name: string): object => ({ compatibility: { [name]: false } });

/** Actions that each switch of `compatibility` allows. */
const lax: Readonly<Record<string, (ground: Ground) => Promise<(api: TestApi) => Promise<boolean>>>> = {
  async implicit(ground) {
    const people = { grant_types: ['implicit'], auth: { implicit: { redirect_uri: 'https://app.example/back' } } };
    await ground.declare(ground.client(people));
    return async (api) => {
      const { location } = await newBrowser(api, ground.box).get('/auth/authorize?response_type=token&client_id=app');
      return location.startsWith(`${ground.issuer}/auth/signin?`);
    };
  },
  async query_token(ground) {
    await ground.app();
    const { access } = await ground.tokens();
    return async (api) =>
      isLet(await readReply(await fetch(`${ground.base(api)}/users?access_token=${access}`)), 200, [400]);
  },
  async password_hash(ground) {
    const { id } = await newUser(ground);
    return async (api) => 'password' in (await ground.admin('GET', `/users/${String(id)}`, undefined, api)).body;
  },
  async password_change_without_old(ground) {
    const { id } = await newUser(ground);
    return async (api) =>
      ground.admin('PUT', `/users/${String(id)}`, { password: theirPassword }, api).then(
        () => true,
        (error: unknown) =>
          isLet({ status: String(error).includes(': 422 ') ? 422 : 500, text: String(error) }, 200, [422]),
      );
  },
  refresh_without_secret: (ground) => refreshing(ground, false),
  async password_grant(ground) {
    await ground.app({ grant_types: ['password'] });
    const { email } = await newUser(ground);
    const asked = { grant_type: 'password', username: email, password: theirPassword };
    return async (api) => isLet(await ground.atToken(api, asked), 200, [400]);
  },
  foreign_audience: (ground) =>
    opening(ground, { auth: { client_credentials: { audience: [files] } } }, { audience: files }),
};

const laxStories = Object.entries(lax).flatMap(([name, using]): [string, Story][] => [
  [`Box.compatibility.${name}`, ofBox({}, without(name), using)],
  [`Box.compatibility.profile (${name})`, ofBox({}, strict, using)],
]);

const origin = { Origin: 'https://app.example' };

/** Gives hosts to the box of a story, as the operator does. */
async function giveHosts({ one, box, issuer }: Ground, ...hosts: readonly string[]): Promise<void> {
  const cluster = `hosts-of-${box}`;
  const epoch = await claimEpoch(one.managementUrl, one.managementKey, cluster);
  const management = createManagement({ url: one.managementUrl, key: new Secret(one.managementKey) });
  const boxes = [{ box, granted: hosts, claimed: hosts }];
  const default_issuers = issuer.slice(0, -box.length);
  await management.putHosts({ cluster, epoch, default_issuers, boxes }, new AbortController().signal);
}

const answersAt = (host: string) => async (api: TestApi) => {
  const target = '/.well-known/oauth-authorization-server';
  return isLet(await sendRequest(api.url, { method: 'GET', target, headers: [['Host', host]] }), 200, [404]);
};

/** For each field of a Box that grants something. */
export const boxStories: Readonly<Record<string, Story>> = {
  'Box.active': ofBox({}, { active: false }, opening),
  'Box.active (refresh token)': ofBox({}, { active: false }, refreshing),
  async 'Box.revoke_sessions_before'(ground) {
    const use = await opening(ground);
    return { use, withdraw: () => ground.settings({ revoke_sessions_before: new Date().toISOString() }) };
  },
  async 'Box.hosts'(ground) {
    const host = `${ground.box}.test`;
    await giveHosts(ground, host);
    await ground.settings({ hosts: [host] });
    return { use: answersAt(host), withdraw: () => ground.settings({}) };
  },
  async 'Box.hosts (by the Namespace)'(ground) {
    const host = `${ground.box}.test`;
    await giveHosts(ground, host);
    await ground.settings({ hosts: [host] });
    return { use: answersAt(host), withdraw: () => giveHosts(ground) };
  },
  async 'Box.issuer'(ground) {
    const host = `${ground.box}.test`;
    await giveHosts(ground, host);
    await ground.settings({ hosts: [host], issuer: `https://${host}` });
    await ground.app({ auth: { client_credentials: { token_format: 'jwt' } } });
    const { access } = await ground.tokens();
    return { use: (api) => ground.opens(api, access), withdraw: () => ground.settings({ hosts: [host] }) };
  },
  'Box.registration.enabled': ofBox({ registration: enabled }, {}, registering('shop.example', isThere)),
  'Box.registration.allowed_email_domains': ofBox(
    { registration: { ...enabled, allowed_email_domains: ['shop.example', 'a.example'] } },
    { registration: { ...enabled, allowed_email_domains: ['a.example'] } },
    registering('shop.example', isThere),
  ),
  'Box.registration.default_group': ofBox(
    { registration: { ...enabled, default_group: 'members' } },
    { registration: enabled },
    registering('shop.example', isMember),
  ),
  'Box.registration.approval': ofBox(
    { registration: { ...enabled, approval: 'none' } },
    { registration: { ...enabled, approval: 'admin' } },
    registering('shop.example', signsIn),
  ),
  'Box.cors': ofBox({ cors: { allowed_origins: [origin.Origin] } }, {}, (ground) =>
    Promise.resolve(async (api: TestApi) => {
      const { headers } = await fetch(`${ground.base(api)}/Client`, { headers: origin });
      return headers.has('access-control-allow-origin');
    }),
  ),
  async 'Box.tokens.max_refresh_lifetime'(ground) {
    const use = await refreshing(ground);
    const anHourAgo = `UPDATE boxgate.refresh_family SET created_at = created_at - interval '1 hour' WHERE box = $1`;
    await ownerQuery(ground.one, anHourAgo, [ground.box]);
    return { use, withdraw: () => ground.settings({ tokens: { max_refresh_lifetime: 600 } }) };
  },
  'Box.tokens.max_sessions_per_client': ofBox({}, { tokens: { max_sessions_per_client: 1 } }, async (ground) => {
    await ground.app();
    return async (api) => isLet(await ground.atToken(api, { grant_type: 'client_credentials' }), 200, [429]);
  }),
  'Box.tokens.require_listed_audience': ofBox({}, { tokens: { require_listed_audience: true } }, (ground) =>
    opening(ground, {}, { audience: files }),
  ),
  'Box.tokens.require_listed_audience (new tokens)': ofBox(
    {},
    { tokens: { require_listed_audience: true } },
    async (ground) => {
      await ground.app();
      const asked = { grant_type: 'client_credentials', audience: files };
      return async (api) => isLet(await ground.atToken(api, asked), 200, [400]);
    },
  ),
  'Box.tokens.require_listed_audience (refresh token)': ofBox(
    {},
    { tokens: { require_listed_audience: true } },
    async (ground) => {
      await ground.app({ auth: { client_credentials: { refresh_token: true } } });
      const { refresh } = await ground.tokens({ audience: files });
      return (api) => ground.refreshes(api, refresh);
    },
  ),
  async 'Box.compatibility.password_grant (tokens)'(ground) {
    const { user } = await tokensOfUser(ground);
    const reply = await ground.atToken(ground.one, {
      grant_type: 'password',
      username: user.email,
      password: theirPassword,
    });
    const access = String(reply.body['access_token']);
    await ground.declare(ground.policy());
    return { use: (api) => ground.opens(api, access), withdraw: () => ground.settings(without('password_grant')) };
  },
  ...Object.fromEntries(laxStories),
};
