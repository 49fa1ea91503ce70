import { isObject } from '../../crds/json-value.ts';
import type { HttpsBox } from './https-box.ts';

/** Makes the user of a box a member of new groups only, as an administrator does over REST. */
export async function join(box: HttpsBox, names: readonly string[]): Promise<void> {
  const secret = 'a secret of the administrator';
  const link = [{ resourceType: 'Client', id: 'administrator' }];
  await box.api.declare('default', [
    { kind: 'Client', id: 'administrator', grant_types: ['client_credentials'], secret },
    { kind: 'AccessPolicy', id: 'administrator', engine: 'allow', link },
  ]);
  const credentials = { grant_type: 'client_credentials', client_id: 'administrator', client_secret: secret };
  const token = (await send('POST', '/auth/token', credentials))['access_token'];
  const ids: unknown[] = [];
  for (const name of names) ids.push((await send('POST', '/Group', { resourceType: 'Group', name }, token))['id']);
  await send('PUT', `/users/${String(box.user)}`, { 'group-ids': ids }, token);

  async function send(method: string, path: string, body: object, bearer?: unknown) {
    const response = await fetch(`${box.issuer}${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(bearer !== undefined && { Authorization: `Bearer ${String(bearer)}` }),
      },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (!response.ok || !isObject(answer)) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
