import { isObject } from '../../../crds/path.ts';
import { request } from 'node:http';
import type { OperatorRig } from '../operator-rig.ts';

/** Sets annotations of the Namespace of a box as an admin does; null removes one. */
export async function annotate(
  rig: OperatorRig,
  box: string,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  const path = `/api/v1/namespaces/${box}`;
  const contentType = 'application/merge-patch+json';
  await rig.plane.call({ method: 'PATCH', path, body: { metadata: { annotations } }, contentType });
}

/** Returns the issuer in the metadata under a host name (and below a path), or the status of a refusal as text. */
export async function issuerAt(rig: OperatorRig, host: string, path = ''): Promise<string> {
  const { status, body } = await send(rig, host, 'GET', `${path}/.well-known/oauth-authorization-server`);
  return status === 200 ? String(body['issuer']) : String(status);
}

/** Returns the status of a token request of a client under a host name. */
export async function tokenAt(rig: OperatorRig, host: string, id: string, secret: string): Promise<number> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  return (await send(rig, host, 'POST', '/auth/token', form.toString())).status;
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Not fetch: it sends the Host of the URL. */
function send(rig: OperatorRig, host: string, method: string, path: string, form?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const type = form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' };
    const asked = request(`${rig.api.url}${path}`, { method, headers: { Host: host, ...type } });
    asked.on('error', reject).on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => {
        const body: unknown = text.startsWith('{') ? JSON.parse(text) : {};
        resolve({ status: answer.statusCode ?? 0, body: isObject(body) ? body : {} });
      });
    });
    asked.end(form);
  });
}
