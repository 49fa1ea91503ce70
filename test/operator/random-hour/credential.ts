import { isObject } from '../../../crds/path.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { proof } from '../../oauth/assertions.ts';
import type { FoundClient } from './found-client.ts';
import { patientCall } from './found-client.ts';
import { publicUrl } from './stage.ts';

/** Credential of a Client, by its current spec and the cluster. */
export interface Credential {
  /** Changes with everything that it was read from. */
  readonly version: string;
  /** Parameters of a token request; undefined where the Secret or the ServiceAccount is not there. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** The text of a secret. */
  readonly secret?: string;
  readonly account?: AccountNow;
}

/** The entry of a Client's `service_accounts`, and the ServiceAccount that is there now. */
export interface AccountNow {
  readonly box: string;
  readonly name: string;
  /** The uid that the entry names. */
  readonly declared: string | undefined;
  /** The uid of the ServiceAccount; undefined: there is none. */
  readonly uid: string | undefined;
}

/** Reads what authenticates Clients. */
export interface CredentialReader {
  read(client: FoundClient): Promise<Credential>;
  /** A token of the ServiceAccount of a uid, also after that was deleted; undefined where none was requested. */
  tokenOf(uid: string): Readonly<Record<string, string>> | undefined;
}

/** Creates the reader; a token of a ServiceAccount is requested once for each uid. */
export function createCredentialReader(plane: ControlPlane): CredentialReader {
  const tokens = new Map<string, string>();

  async function ofAccount(box: string, name: string, declared: string | undefined): Promise<Credential> {
    const path = `/api/v1/namespaces/${box}/serviceaccounts/${name}`;
    const { status, body } = await patientCall(plane, { path });
    const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
    const uid = status === 200 ? String(metadata['uid']) : undefined;
    const token = uid === undefined ? undefined : (tokens.get(uid) ?? (await mint(path, box)));
    if (uid !== undefined && token !== undefined) tokens.set(uid, token);
    return {
      version: `account ${String(uid)}`,
      fields: token === undefined ? undefined : proof(token),
      account: { box, name, declared, uid },
    };
  }

  /** Requests what the kubelet gives to a pod; undefined where the ServiceAccount went meanwhile. */
  async function mint(path: string, box: string): Promise<string | undefined> {
    const spec = { audiences: [`${publicUrl}/boxes/${box}`], expirationSeconds: 86_400 };
    const { body } = await patientCall(plane, { method: 'POST', path: `${path}/token`, body: { spec } });
    const status = isObject(body) && isObject(body['status']) ? body['status'] : {};
    return typeof status['token'] === 'string' ? status['token'] : undefined;
  }

  async function ofSecret(box: string, name: string, key: string, owner?: string): Promise<Credential> {
    const { status, body } = await patientCall(plane, { path: `/api/v1/namespaces/${box}/secrets/${name}` });
    const { metadata, data } = isObject(body) ? body : {};
    const value = status === 200 && isObject(data) ? data[key] : undefined;
    const { uid, resourceVersion, ownerReferences } = isObject(metadata) ? metadata : {};
    const isOwned = owner === undefined || JSON.stringify(ownerReferences ?? '').includes(`"uid":"${owner}"`);
    const version = `Secret ${name} ${String(uid)} ${String(resourceVersion)}`;
    if (typeof value !== 'string' || !isOwned) return { version, fields: undefined };
    const secret = Buffer.from(value, 'base64').toString();
    return { version, fields: { client_secret: secret }, secret };
  }

  async function read({ box, name, uid, spec }: FoundClient): Promise<Credential> {
    const { secret, secretRef, service_accounts: accounts, generateSecret } = spec;
    if (typeof secret === 'string') return { version: 'inline', fields: { client_secret: secret }, secret };
    if (isObject(secretRef)) return ofSecret(box, String(secretRef['name']), String(secretRef['key']));
    const entry: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (isObject(entry)) {
      const declared = typeof entry['uid'] === 'string' ? entry['uid'] : undefined;
      return ofAccount(String(entry['namespace']), String(entry['name']), declared);
    }
    const named = isObject(generateSecret) ? generateSecret['name'] : undefined;
    return ofSecret(box, typeof named === 'string' ? named : name, 'client_secret', uid);
  }

  return {
    read,
    tokenOf(uid) {
      const token = tokens.get(uid);
      return token === undefined ? undefined : proof(token);
    },
  };
}
