import { isObject } from '../../crds/path.ts';
import { ManagementError } from './management-error.ts';

/** An entry of a client's `service_accounts`, with the current state of its ServiceAccount in the cluster. */
export interface SeenServiceAccount {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  /** UID of the existing ServiceAccount; null if there is none. */
  readonly uid: string | null;
  /** The uid that the entry names; absent if it names none. */
  readonly declared?: string;
}

/** An entry pinned by its first token, or by the uid that it names once the cluster has no such ServiceAccount. */
export interface PinnedServiceAccount {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** True if the ServiceAccount with this uid no longer exists: its tokens are refused. */
  readonly gone: boolean;
}

/** Body of `POST /boxes/<box>/service-accounts`. */
export interface ServiceAccountsCall {
  readonly cluster: string;
  readonly epoch: number;
  /** The known accounts; empty if only the pins are requested. */
  readonly seen: readonly SeenServiceAccount[];
}

/** Its answer: every pin of the clients that the cluster declares in the box, once `seen` is stored. */
export interface ServiceAccountPins {
  readonly pins: readonly PinnedServiceAccount[];
}

/** Reads the answer of `POST /boxes/<box>/service-accounts`. Throws ManagementError `refused`. */
export function pinsOf(answer: unknown): readonly PinnedServiceAccount[] {
  const pins: unknown = isObject(answer) ? answer['pins'] : undefined;
  if (Array.isArray(pins) && pins.every(isPin)) return pins;
  throw new ManagementError('refused', 'the API answered without the pins of ServiceAccounts');
}

function isPin(value: unknown): value is PinnedServiceAccount {
  if (!isObject(value)) return false;
  const texts = ['client', 'namespace', 'name', 'uid'].map((name) => value[name]);
  return texts.every((text) => typeof text === 'string') && typeof value['gone'] === 'boolean';
}
