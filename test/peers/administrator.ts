import { isObject } from '../../crds/json-value.ts';
import type { HttpsBox } from './https-box.ts';

/** A client that may do everything in its box, over REST. */
export interface Administrator {
  /** Makes the user of the box a member of new groups only. */
  join(names: readonly string[]): Promise<void>;
  /** Changes fields of the user of the box. */
  changeUser(fields: object): Promise<void>;
}

type Answer = Readonly<Record<string, unknown>>;

/** Declares the administrator of a box and gets a token for it. */
export async function administratorOf(box: HttpsBox): Promise<Administrator> {
  const secret = 'a secret of the administrator';
  const link = [{ resourceType: 'Client', id: 'administrator' }];
  await box.api.declare('default', [
    { kind: 'Client', id: 'administrator', grant_types: ['client_credentials'], secret },
    { kind: 'AccessPolicy', id: 'administrator', engine: 'allow', link },
  ]);
  const credentials = { grant_type: 'client_credentials', client_id: 'administrator', client_secret: secret };
  const { access_token: token } = await post('/auth/token', credentials);
  const bearer = { Authorization: `Bearer ${String(token)}` };
  const changeUser = async (fields: object): Promise<void> => {
    await send('PUT', `/users/${String(box.user)}`, fields, bearer);
  };
  return {
    async join(names) {
      const ids: unknown[] = [];
      for (const name of names) ids.push((await post('/Group', { resourceType: 'Group', name }, bearer))['id']);
      await changeUser({ 'group-ids': ids });
    },
    changeUser,
  };

  function post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    return send('POST', path, body, headers);
  }

  async function send(
    method: string,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type = { 'Content-Type': 'application/json' };
    const sent = { method, headers: { ...type, ...headers }, body: JSON.stringify(body) };
    const response = await fetch(`${box.issuer}${path}`, sent);
    const answer: unknown = await response.json();
    if (!response.ok || !isObject(answer)) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
