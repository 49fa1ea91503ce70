import { ownerQuery } from '../../support/owner-query.ts';
import { userTokens } from '../../support/user-token.ts';
import { readReply } from '../../oauth/requests.ts';
import { idIn, isLet } from './ground.ts';
import type { Ground, Story } from './ground.ts';

const back = 'https://app.example/back';
const password = 'a long enough passphrase';

/** A user of the box `ground` who has tokens of the client `app`. */
export async function newUser(
  ground: Ground,
  fields: object = {},
): Promise<{ readonly id: number; readonly email: string }> {
  const email = `ann@${ground.box}.example`;
  return { id: idIn(await ground.admin('POST', '/users', { email, password, ...fields })), email };
}

/**
 * Declares the client `app` with the code grant and the grant `password`; the tokens of a new user who may read
 * clients.
 */
export async function tokensOfUser(ground: Ground, settings: object = {}, fields: object = {}) {
  const code = { redirect_uri: back, refresh_token: true, ...settings };
  const grant_types = ['authorization_code', 'password'];
  await ground.declare(
    ground.client({ grant_types, auth: { authorization_code: code }, ...fields }),
    ground.policy({ link: [], subjects: 'authenticated' }),
  );
  const user = await newUser(ground);
  return { user, ...(await userTokens(ground.one.database.ownerUrl, ground.box, 'app', user.id)) };
}

/** The password of every user that {@link newUser} creates. */
export const theirPassword = password;

/** For each field of a user, group, session or grant that grants something. */
export const peopleStories: Readonly<Record<string, Story>> = {
  async 'User.status'(ground) {
    const { user, access } = await tokensOfUser(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { status: 'inactive' }),
    };
  },
  async 'User.status (refresh token)'(ground) {
    const { user, refresh } = await tokensOfUser(ground);
    return {
      use: (api) => ground.refreshes(api, refresh),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { status: 'inactive' }),
    };
  },
  async 'User.id (the user is deleted)'(ground) {
    const { user, access } = await tokensOfUser(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('DELETE', `/users/${String(user.id)}`),
    };
  },
  async 'User.password'(ground) {
    const { user, access } = await tokensOfUser(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { password: 'another long passphrase' }),
    };
  },
  async 'User.password (at the token endpoint)'(ground) {
    const { user } = await tokensOfUser(ground);
    return {
      use: async (api) => isLet(await byPassword(ground, api, user.email), 200, [400]),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { password: 'another long passphrase' }),
    };
  },
  async 'User.email'(ground) {
    const { user } = await tokensOfUser(ground);
    return {
      use: async (api) => isLet(await byPassword(ground, api, user.email), 200, [400]),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { email: `new@${ground.box}.example` }),
    };
  },
  async 'User.email_verified'(ground) {
    const { user, access } = await tokensOfUser(ground);
    await ground.admin('PUT', `/users/${String(user.id)}`, { email_verified: true });
    await ground.declare(
      ground.policy({
        link: [],
        subjects: 'authenticated',
        engine: 'matcho',
        matcho: { user: { email_verified: true } },
      }),
    );
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { email: `new@${ground.box}.example` }),
    };
  },
  async 'User.data'(ground) {
    const { user, access } = await tokensOfUser(ground);
    await ground.admin('PUT', `/users/${String(user.id)}`, { data: '{"clerk": true}' });
    await ground.declare(
      ground.policy({
        link: [],
        subjects: 'authenticated',
        engine: 'matcho',
        matcho: { user: { data: { clerk: true } } },
      }),
    );
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { data: null }),
    };
  },
  async 'User.group-ids'(ground) {
    const { user, access } = await tokensOfMember(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/users/${String(user.id)}`, { 'group-ids': [] }),
    };
  },
  async 'Group.name'(ground) {
    const { access, group } = await tokensOfMember(ground, inGroup);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('PUT', `/Group/${String(group)}`, { name: 'former staff' }),
    };
  },
  async 'Group.id (the group is deleted)'(ground) {
    const { access, group } = await tokensOfMember(ground, inGroup);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('DELETE', `/Group/${String(group)}`),
    };
  },
  async 'Group.id (the object that declares the group is deleted)'(ground) {
    const { user, access } = await tokensOfUser(ground);
    await ground.declare(
      { kind: 'Group', id: 'staff' },
      ground.policy({ link: [{ resourceType: 'Group', id: 'staff' }] }),
    );
    const { text } = await ground.admin('GET', '/Group?_result=array&name=staff');
    const [, group = ''] = /"id":(\d+)/.exec(text) ?? [];
    await ground.admin('PUT', `/users/${String(user.id)}`, { 'group-ids': [Number(group)] });
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.one.remove(ground.box, [{ kind: 'Group', id: 'staff' }]),
    };
  },
  async 'Session.active'(ground) {
    const { user, access } = await tokensOfUser(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: async () => {
        const { text } = await ground.admin('GET', `/Session?_result=array&user=${String(user.id)}`);
        const [, id = ''] = /"id":"([0-9a-f-]{36})"/.exec(text) ?? [];
        return ground.admin('PUT', `/Session/${id}`, { active: false });
      },
    };
  },
  async 'Session.id (closed by its own token)'(ground) {
    const { access, refresh } = await tokensOfUser(ground);
    const headers = { Authorization: `Bearer ${access}` };
    return {
      use: async (api) => (await ground.refreshes(api, refresh)) && ground.opens(api, access),
      withdraw: async () => readReply(await fetch(`${ground.base(ground.one)}/Session`, { method: 'DELETE', headers })),
    };
  },
  async 'Grant.id (the consent is taken back)'(ground) {
    const { user, access } = await tokensOfUser(ground);
    const consent = `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
      SELECT box, $2, 'app', '{}', config_version, now() FROM boxgate.box WHERE box = $1`;
    await ownerQuery(ground.one, consent, [ground.box, user.id]);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.admin('DELETE', `/Grant/${String(user.id)}.app`),
    };
  },
};

function byPassword(ground: Ground, api: Ground['one'], username: string) {
  return ground.atToken(api, { grant_type: 'password', username, password });
}

/** A rule about the groups of users: a group that a policy links can be neither renamed nor deleted. */
const inGroup = {
  ...{ engine: 'cel', expression: 'user.groups.exists(group, group.name == "staff")' },
  subjects: 'authenticated',
};

/** Tokens of a user of a group that may read clients, by a link of the group or by a rule. */
async function tokensOfMember(ground: Ground, rule?: object) {
  const tokens = await tokensOfUser(ground);
  const group = idIn(await ground.admin('POST', '/Group', { name: 'staff' }));
  const link = [{ resourceType: 'Group', id: String(group) }];
  await ground.declare(ground.policy(rule ? { ...rule, link: [] } : { link }));
  await ground.admin('PUT', `/users/${String(tokens.user.id)}`, { 'group-ids': [group] });
  return { ...tokens, group };
}
