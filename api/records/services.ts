import type { AuditTrail } from '../audit/audit-trail.ts';
import type { Connections } from '../db/core/pool.ts';
import type { ClientSecrets } from '../credentials/client-secret.ts';
import type { Passwords } from '../credentials/password.ts';

/** Dependencies of the services of the resource endpoints. */
export interface ResourceServices {
  readonly pool: Connections;
  readonly secrets: Pick<ClientSecrets, 'store'>;
  readonly passwords: Passwords;
  /** Records the changes of the request. */
  readonly trail: AuditTrail;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** True if an acknowledged revocation must also be on a synchronous standby. */
  readonly revocationsNeedStandby: boolean;
  /** Folder of the manifests that declare the resources, as messages name it; absent: custom resources declare them. */
  readonly folder?: string | undefined;
}

/** The kinds that the generic resource API stores as they are submitted; sessions are issued, never submitted. */
export type StoredKind = 'Client' | 'AccessPolicy';

/** Reference to a resource of a box. */
export interface ResourceRef {
  readonly box: string;
  readonly kind: StoredKind;
  readonly id: string;
}
