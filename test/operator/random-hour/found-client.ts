import { isObject } from '../../../crds/path.ts';
import type { ApiAnswer, ApiCall } from '../../support/cluster/api-call.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { eventually } from '../../support/eventually.ts';

/** A Client as the API server has it. */
export interface FoundClient {
  readonly box: string;
  readonly name: string;
  /** Client ID in its box. */
  readonly id: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** It is being deleted. */
  readonly isGoing: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  /** Its condition Ready, if that is about this generation. */
  readonly ready: ReadyCondition | undefined;
}

/** The condition Ready of a Client in its present generation. */
export interface ReadyCondition {
  readonly status: string;
  readonly reason: string;
  readonly since: string;
}

/** Reads a Client; undefined for what is none. */
export function foundClient(object: unknown): FoundClient | undefined {
  const { metadata, spec, status } = isObject(object) ? object : {};
  if (!isObject(metadata) || !isObject(spec)) return undefined;
  const { namespace, name, uid, generation, resourceVersion, deletionTimestamp } = metadata;
  const state = isObject(status) ? status : {};
  const conditions = Array.isArray(state['conditions']) ? state['conditions'].filter(isObject) : [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isCurrent = ready !== undefined && ready['observedGeneration'] === generation;
  return {
    box: String(namespace),
    name: String(name),
    id: typeof spec['id'] === 'string' ? spec['id'] : String(name),
    uid: String(uid),
    generation: Number(generation),
    resourceVersion: String(resourceVersion),
    isGoing: deletionTimestamp !== undefined,
    spec,
    status: state,
    ready: isCurrent
      ? {
          status: String(ready['status']),
          reason: String(ready['reason']),
          since: String(ready['lastTransitionTime']),
        }
      : undefined,
  };
}

/** Path of the Clients of a box, of all boxes (''), or of one Client. */
export function clientPath(box: string, name = ''): string {
  const where = box === '' ? '' : `/namespaces/${box}`;
  return `/apis/boxgate.dev/v1${where}/clients${name === '' ? '' : `/${name}`}`;
}

/** Calls the API server; waits while it is too busy, or sets up the storage of a definition that has just changed. */
export async function patientCall(plane: ControlPlane, call: ApiCall): Promise<ApiAnswer> {
  let answer: ApiAnswer | undefined;
  await eventually(`${call.path} is answered`, async () => {
    answer = await plane.call(call);
    return answer.status !== 429 && answer.status !== 503 && answer.status !== 504;
  });
  if (answer === undefined) throw new Error(`${call.path}: no answer`);
  return answer;
}

/** Reads one Client; undefined where there is none. */
export async function readClient(plane: ControlPlane, box: string, name: string): Promise<FoundClient | undefined> {
  const { status, body } = await patientCall(plane, { path: clientPath(box, name) });
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`${clientPath(box, name)}: ${String(status)} ${JSON.stringify(body)}`);
  return foundClient(body);
}

/** Lists the Clients of a box, or of all boxes (''), with the version of the list. */
export async function listClients(
  plane: ControlPlane,
  box: string,
): Promise<{ readonly clients: readonly FoundClient[]; readonly version: string }> {
  const { status, body } = await patientCall(plane, { path: clientPath(box) });
  if (status !== 200 || !isObject(body)) throw new Error(`${clientPath(box)}: ${String(status)}`);
  const items: readonly unknown[] = Array.isArray(body['items']) ? body['items'] : [];
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  return { clients: items.flatMap((item) => foundClient(item) ?? []), version: String(metadata['resourceVersion']) };
}
