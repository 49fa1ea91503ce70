import type { ClientUsage } from '../../api/client/desired-state.ts';
import type { Fault } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';
import type { AccountState } from '../desired/declared.ts';
import type { ConditionType, Reason } from './reasons.ts';

/** One condition, in the form of Kubernetes' `metav1.Condition`. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339; changes only when `status` does. */
  readonly lastTransitionTime: string;
}

/** Values of the columns of a table, by kind. */
export type Columns =
  | {
      readonly kind: 'Client';
      readonly id: string;
      readonly grants: string;
      /** Source of the secret, or what authenticates the client instead. */
      readonly secret: string;
      /** Issuer of its box, and its token URL inside the cluster (empty if there is no cluster). */
      readonly issuer: string;
      readonly inClusterTokenUrl: string;
      /** Name of the Secret that holds it; empty if there is none. */
      readonly secretName: string;
      readonly policies: number;
      /** Its pinned ServiceAccounts. */
      readonly serviceAccounts: readonly Pick<AccountState, 'namespace' | 'name' | 'uid'>[];
      /** Its usage; undefined if it was not read yet. */
      readonly usage: ClientUsage | undefined;
    }
  | {
      readonly kind: 'AccessPolicy';
      readonly id: string;
      readonly engine: string;
      readonly subjects: string;
      /** Links to existing resources, as `Client/x`. */
      readonly resolvedLinks: readonly string[];
      /** Links to resources that do not exist (yet). */
      readonly danglingLinks: readonly string[];
      /** Time at which it last granted a request (RFC 3339); undefined if that is not known. */
      readonly lastUsed: string | undefined;
    }
  | {
      readonly kind: 'Group';
      /** Name of the group in its box. */
      readonly name: string;
      /** Undefined if it was not read yet. */
      readonly members: number | undefined;
    }
  | {
      readonly kind: 'Box';
      readonly issuer: string;
      /** Token URL inside the cluster; empty if there is no cluster. */
      readonly inClusterTokenUrl: string;
      /** Database that it is in; undefined if that is not known yet. */
      readonly database: string | undefined;
      readonly clients: number;
      readonly policies: number;
      readonly users: number | undefined;
      /** Its first admin: the email, and the Secret that holds the password. */
      readonly admin: { readonly email: string; readonly secret: string } | undefined;
    };

/** The published state of one object. */
export interface ObjectStatus {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Uid of the object: another one of its name has a status of its own. */
  readonly uid: string;
  readonly place: string;
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly columns: Columns;
  /** Faults of the object, field by field. */
  readonly faults: readonly Fault[];
}
