import { randomBytes } from 'node:crypto';
import type { Client } from '../../crds/client.ts';
import { ManagementError } from '../../api/client/management-error.ts';
import type { ApplyHead, ApplyLine, ApplyResult, DeclareLine, NamespaceClaim } from '../../api/client/desired-state.ts';
import { createManagement } from '../../api/client/management.ts';
import type { Management } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { sendForm, sendJson } from '../oauth/requests.ts';
import type { Reply } from '../oauth/requests.ts';
import type { TestApi } from '../support/api.ts';

const signal = new AbortController().signal;

/** One box of a real API, declared over the management port by a cluster, as an operator does it. */
export interface DeclaredBox {
  readonly box: string;
  readonly management: Management;
  /** The namespace that every call names from now on. */
  namespace: NamespaceClaim | undefined;
  /** Applies lines in one call. Throws ManagementError. */
  apply(lines: readonly ApplyLine[], complete?: boolean): Promise<readonly ApplyResult[]>;
  /** The verdicts of {@link DeclaredBox.apply}, `locked <uid>` when it is refused as locked. */
  verdicts(lines: readonly ApplyLine[], complete?: boolean): Promise<string>;
  /** A client that may get tokens with a secret; undefined keeps the one that is stored. */
  client(id: string, secret: string | undefined, fields?: Partial<DeclareLine>, resource?: object): DeclareLine;
  token(id: string, secret: string): Promise<Reply>;
  introspect(id: string, secret: string, token: string): Promise<Reply>;
}

/** A box of that name in an API; the cluster claims its epoch, and adopts an older one where that is named. */
export async function declaredBox(
  api: TestApi,
  box: string,
  cluster = `cluster-of-${box}`,
  adopts?: string,
): Promise<DeclaredBox> {
  const management = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
  const epoch = await management.claimEpoch(cluster, signal, adopts);
  const at = (path: string): string => `${api.url}/boxes/${box}${path}`;
  const declared: DeclaredBox = {
    box,
    management,
    namespace: undefined,
    apply(lines, complete = false) {
      const { namespace } = declared;
      const head: ApplyHead = { cluster, epoch, complete, ...(namespace === undefined ? {} : { namespace }) };
      return management.apply({ box, head, lines }, signal);
    },
    async verdicts(lines, complete) {
      try {
        return (await declared.apply(lines, complete)).map(({ result }) => result).join(' ');
      } catch (error) {
        if (error instanceof ManagementError && error.code === 'locked') return `locked ${error.bound ?? ''}`;
        throw error;
      }
    },
    client(id, secret, fields = {}, resource = {}) {
      const full: Client = { resourceType: 'Client', id, grant_types: ['client_credentials'], ...resource };
      if (secret !== undefined) full.secret = secret;
      const owner = { name: `${box}/${id}`, uid: `uid-of-${id}` };
      return { kind: 'Client', id, owner, digest: randomBytes(8).toString('hex'), resource: full, ...fields };
    },
    token: (id, secret) =>
      sendJson(at('/auth/token'), { grant_type: 'client_credentials', client_id: id, client_secret: secret }),
    introspect: (id, secret, token) =>
      sendForm(at('/auth/introspect'), { client_id: id, client_secret: secret, token }),
  };
  return declared;
}

/** The question whether a row is still as a line declares it. */
export function compare({ kind, id, owner, digest }: DeclareLine): ApplyLine {
  return { kind, id, owner, digest };
}
