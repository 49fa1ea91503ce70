import type { AuditTrail, Origin } from '../audit/audit-trail.ts';
import type { CountedEvents } from '../audit/counted-events.ts';
import type { Connections } from '../db/core/pool.ts';
import type { ClientSecrets } from '../credentials/client-secret.ts';
import type { Passwords } from '../credentials/password.ts';
import type { UserHints } from '../credentials/user-hint.ts';
import type { FailedPolicies } from '../policy/decide.ts';
import type { BoxState } from '../box/box-state.ts';
import type { ClusterSettings } from '../box/cluster-settings.ts';
import type { StateCache } from '../box/state-cache.ts';
import type { RequestNotes, UsageNotes } from '../box/notes.ts';
import type { ClientKeys } from './client-auth/client-keys.ts';
import type { ServiceAccountTokens } from './client-auth/verify-assertion.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { VerifiedJwts } from './keys/verified-jwts.ts';

/** Dependencies of the OAuth endpoints, given once at the start of the process. */
export interface OAuthServices {
  readonly states: StateCache;
  readonly pool: Connections;
  readonly secrets: ClientSecrets;
  readonly passwords: Passwords;
  readonly clientKeys: ClientKeys;
  readonly clusterSettings: ClusterSettings;
  readonly serviceAccountTokens: ServiceAccountTokens;
  readonly keys: SigningKeys;
  readonly verifiedJwts: VerifiedJwts;
  readonly userHints: UserHints;
  /** Records the use of clients. */
  readonly usage: Pick<UsageNotes, 'tokenIssued' | 'previousSecretUsed'>;
  /** Notes decided requests for the record. */
  readonly requestNotes: Pick<RequestNotes, 'note'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Returns the issuer of a box: its own setting, otherwise a URL below the installation's public URL. */
  readonly issuer: (state: Pick<BoxState, 'box' | 'settings'>) => string;
  /** Returns the audit trail of a request. */
  readonly trailOf: (origin: Origin) => AuditTrail;
  /** Counts failures, denials and sign-ins for the audit trail. */
  readonly countedEvents: Pick<CountedEvents, 'note'>;
  /** Records policies that fail in decisions. */
  readonly failedPolicies: Pick<FailedPolicies, 'note'>;
  /** True if an acknowledged revocation must also be on a synchronous standby. */
  readonly revocationsNeedStandby: boolean;
  /** Folder of the manifests that declare the resources, as messages name it; absent: custom resources declare them. */
  readonly folder?: string | undefined;
}
