import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { Load } from './attack.ts';
import { basic, formText, quietAddress, requestText, rudeAddress } from './requests.ts';
import { quietBox, rudeBox } from './stage.ts';
import type { Stage } from './stage.ts';

/** A client that may do everything in its box. */
export interface Admin {
  readonly id: string;
  readonly secret: string;
  readonly token: string;
}

/** Declares a client that may do everything in a box, and asks for a token. */
export async function declareAdmin({ declare, process }: Stage, box: string): Promise<Admin> {
  const [id, secret] = ['admin', generateClientSecret()];
  await declare(box, [
    { kind: 'Client', id, grant_types: ['client_credentials'], secret },
    { kind: 'AccessPolicy', id, engine: 'allow', link: [{ resourceType: 'Client', id }] },
  ]);
  const answer = await fetch(`${process.url}/boxes/${box}/auth/token`, {
    method: 'POST',
    headers: { Authorization: basic(id, secret), 'X-Forwarded-For': box === rudeBox ? rudeAddress : quietAddress },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const body: unknown = await answer.json();
  return { id, secret, token: String(Reflect.get(Object(body), 'access_token')) };
}

/**
 * Returns what an app of the quiet box does all day: it asks for tokens, has them checked, and reads a page of
 * sessions.
 */
export async function appLoad(stage: Stage): Promise<Load> {
  const { id, secret, token } = await declareAdmin(stage, quietBox);
  const [from, authorization] = [quietAddress, basic(id, secret)];
  const at = (path: string): string => `/boxes/${quietBox}${path}`;
  const requests = [
    formText({ path: at('/auth/token'), from, authorization }, { grant_type: 'client_credentials' }),
    formText({ path: at('/auth/introspect'), from, authorization }, { token }),
    requestText({ path: at('/Session?_count=10'), from, authorization: `Bearer ${token}` }),
  ];
  return { requests, connections: 16, rate: 30 };
}
