import { Secret } from '../../api/client/secret.ts';
import type { Declared } from '../../operator/desired/declared.ts';
import type { Desired } from '../../operator/desired/desired.ts';
import type { ReconcileResult } from '../../operator/status/reconcile-result.ts';
import type { ObjectStatus } from '../../operator/status/object-status.ts';
import { withTransitionTimes, statusOf, type Transition } from '../../operator/status/status.ts';
import { desired } from './declare.ts';

/** Time of a status by default. */
export const NOW = '2026-01-01T00:00:00.000Z';

const ready = { state: 'ready', value: new Secret('x') } as const;
const none = { state: 'none' } as const;

/** Returns the status input of an object that is applied; `fields` replaces members. */
export function resultOf(object: Declared, fields: Partial<ReconcileResult & Desired> = {}): ReconcileResult {
  const { secret = object.kind === 'Client' ? ready : none, loses, ...others } = fields;
  return {
    desired: desired(object, { secret, loses }),
    row: 'applied',
    unusable: [],
    policies: 0,
    clients: 0,
    dangling: [],
    issuer: '',
    inClusterTokenUrl: '',
    service: undefined,
    quotaFault: undefined,
    database: undefined,
    destination: undefined,
    apiFault: undefined,
    refusal: undefined,
    usage: undefined,
    users: undefined,
    members: undefined,
    lastUsed: undefined,
    servesServiceAccounts: false,
    accounts: [],
    ...others,
  };
}

/** Returns the status for this input, published at a time. */
export function publishedStatus(
  input: ReconcileResult,
  previous: readonly Transition[] = [],
  time = NOW,
): ObjectStatus {
  return statusOf(input, withTransitionTimes(input, previous, time));
}
