import { isObject } from '../../../crds/path.ts';
import { KINDS, type Kind } from '../../../crds/kind.ts';
import type { ApiAnswer, ApiCall } from '../../support/cluster/api-call.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { eventually } from '../../support/eventually.ts';

/** An object as the API server has it. */
export type Found = Readonly<Record<string, unknown>>;

/** One namespace as an admin sees it, past all proxies. */
export interface ClusterBox {
  readonly name: string;
  /** Makes an object, or changes it: its whole spec. Throws what the API server says against it. */
  put(kind: Kind, name: string, spec: object): Promise<void>;
  /** Asks for the end of an object; does not wait for it. */
  remove(kind: Kind, name: string): Promise<void>;
  putSecret(name: string, data: Readonly<Record<string, string>>): Promise<void>;
  removeSecret(name: string): Promise<void>;
  /** The decoded data of a Secret; undefined where there is none. */
  secret(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  list(kind: Kind): Promise<readonly Found[]>;
  /** The Secrets that are ours, or are given to us. */
  secrets(): Promise<readonly Found[]>;
  /** Waits until an object is Ready in its present generation. */
  ready(kind: Kind, name: string): Promise<void>;
  /** Waits until an object is gone. */
  gone(kind: Kind, name: string): Promise<void>;
  /** Asks for the end of everything; does not wait for it. */
  empty(): Promise<void>;
}

/** Generous: a plan ends a process, and its successor has to start. */
const patience = 60_000;

/** A namespace of a control plane. */
export function clusterBox(plane: ControlPlane, name: string): ClusterBox {
  const core = `/api/v1/namespaces/${name}/secrets`;
  const pathOf = (kind: Kind) => `/apis/boxgate.dev/v1/namespaces/${name}/${KINDS[kind].plural}`;
  const call = async (what: ApiCall): Promise<ApiAnswer> => {
    const answer = await plane.call(what);
    // Too busy now: also just after a custom resource was made.
    if (answer.status === 429) return call(what);
    if (answer.status > 299 && answer.status !== 404) throw new Error(JSON.stringify(answer.body));
    return answer;
  };
  const apply = (path: string, body: object) =>
    call({ method: 'PATCH', path: `${path}?fieldManager=admin&force=true`, body, contentType: applyPatch });
  const items = async (path: string): Promise<readonly Found[]> => {
    const { body } = await call({ path });
    return isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
  };

  const box: ClusterBox = {
    name,
    async put(kind, object, spec) {
      const body = { apiVersion: 'boxgate.dev/v1', kind, metadata: { name: object }, spec };
      await apply(`${pathOf(kind)}/${object}`, body);
    },
    async remove(kind, object) {
      await call({ method: 'DELETE', path: `${pathOf(kind)}/${object}` });
    },
    async putSecret(secret, data) {
      const metadata = { name: secret, labels: { 'boxgate.dev/client-secret': 'true' } };
      await apply(`${core}/${secret}`, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: data });
    },
    async removeSecret(secret) {
      await call({ method: 'DELETE', path: `${core}/${secret}` });
    },
    async secret(secret) {
      const { status, body } = await call({ path: `${core}/${secret}` });
      if (status === 404 || !isObject(body) || !isObject(body['data'])) return undefined;
      const entries = Object.entries(body['data']);
      return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]));
    },
    list: (kind) => items(pathOf(kind)),
    secrets: () => items(`${core}?labelSelector=boxgate.dev%2Fclient-secret%3Dtrue`),
    async ready(kind, object) {
      const isSo = async () => isReady(named(await box.list(kind), object));
      await eventually(`${kind} ${object} is Ready`, isSo, patience);
    },
    async gone(kind, object) {
      const isSo = async () => named(await box.list(kind), object) === undefined;
      await eventually(`${kind} ${object} is gone`, isSo, patience);
    },
    async empty() {
      for (const kind of ['Client', 'AccessPolicy', 'Box'] as const)
        await call({ method: 'DELETE', path: pathOf(kind) });
    },
  };
  return box;
}

const applyPatch = 'application/apply-patch+yaml';

function named(objects: readonly Found[], name: string): Found | undefined {
  return objects.find((object) => metadataOf(object)['name'] === name);
}

/** The metadata of an object. */
export function metadataOf(object: Found): Found {
  return isObject(object['metadata']) ? object['metadata'] : {};
}

/** Checks whether an object's condition Ready is True for its current generation. */
export function isReady(object: Found | undefined): boolean {
  if (object === undefined) return false;
  const status = isObject(object['status']) ? object['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready?.['status'] === 'True' && ready['observedGeneration'] === metadataOf(object)['generation'];
}
