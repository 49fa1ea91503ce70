import type { AccessPolicy } from '../../crds/access-policy.ts';
import { boxSchema, type Box } from '../../crds/box.ts';
import { clientSchema, type Client } from '../../crds/client.ts';
import type { Fault } from '../../crds/fault.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { withoutUndeclared } from '../../crds/undeclared-fields.ts';
import { checkResource, type Checked } from '../../crds/validate.ts';
import { Outage } from '../db/outage.ts';
import type { ConfigChanges, ResourceRow } from '../db/config-changes.ts';
import type { PreviousSecret } from '../db/resource.ts';
import { createPolicyIndex } from '../policy/policy-index.ts';
import type { PolicyIndex } from '../policy/policy-index.ts';
import { createKeyRing } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import type { KeySealing } from '../credentials/key-sealing.ts';
import { requestableScopes } from './requestable-scopes.ts';
import type { RequestableScopes } from './requestable-scopes.ts';
import { quotaOf } from '../../crds/quota.ts';
import type { Quota } from '../../crds/quota.ts';
import { createWeights } from './resource-weights.ts';

/** A client as a replica holds it. */
export interface ClientState {
  readonly client: Client;
  /** Scopes that it may request. */
  readonly scopes: RequestableScopes;
  /** Config version of its last change. */
  readonly changedIn: number;
  /** Stored forms of its live secrets. */
  readonly secrets: readonly string[];
  /** The one it had before: valid too, until then. */
  readonly previous: PreviousSecret | undefined;
  /** Sessions decided under an older config version are revoked. */
  readonly sessionsFrom: number;
  /** Sessions begun before this time are revoked; milliseconds since 1970. */
  readonly revokedBefore: number | undefined;
}

/**
 * One box's configuration at one config version, as a replica holds it in memory. A locked box has no clients, policies,
 * keys or settings here, whatever is stored.
 */
export interface BoxState {
  readonly box: string;
  readonly version: number;
  readonly sessionsFrom: number;
  /** Sessions begun before this time are revoked; milliseconds since 1970. */
  readonly revokedBefore: number | undefined;
  readonly settings: Box;
  /** The quotas of the box. */
  readonly quota: Quota;
  /** The box has as many active sessions as its quota allows: it gets no new one. */
  readonly sessionsFull: boolean;
  readonly clients: ReadonlyMap<string, ClientState>;
  readonly policies: PolicyIndex;
  readonly keys: KeyRing;
  /** Bytes of memory that its clients, policies and settings take, about. */
  readonly bytes: number;
}

/** A {@link BoxState} that moves: changes are taken in one synchronous step, so no decision sees half of them. */
export interface MovingBoxState extends BoxState {
  /** True: clients have all of their fields; false: only those that every policy may see. */
  readonly isWhole: boolean;
  /** Takes in what moved since its version; older news are ignored. */
  take(changes: ConfigChanges): void;
}

type Head = Pick<BoxState, 'version' | 'sessionsFrom' | 'revokedBefore' | 'quota' | 'sessionsFull'> & {
  readonly locked: boolean;
};

const nothingLoaded: Head = {
  version: 0,
  sessionsFrom: 0,
  revokedBefore: undefined,
  quota: quotaOf(),
  sessionsFull: false,
  locked: false,
};

/** What a locked box shows of itself: no token of it counts, nobody can get one, its keys prove nothing. */
const nobody: ReadonlyMap<string, ClientState> = new Map();

/** An empty state of a box, at version 0. `onUnusable` hears of rows that cannot be used: they grant nothing. */
export function createBoxState(
  box: string,
  sealing: KeySealing,
  onUnusable: (kind: string, id: string, reason: string) => void,
  isWhole = false,
): MovingBoxState {
  const weights = createWeights();
  const clients = new Map<string, ClientState>();
  const policies = createPolicyIndex();
  const noPolicies = createPolicyIndex();
  const defaults: Box = { resourceType: 'Box', id: box };
  let head = nothingLoaded;
  let settings = defaults;
  const noKeys = createKeyRing([], sealing, box);
  let keys = noKeys;

  function takeRow(row: ResourceRow): void {
    const checked = readRow(row);
    weights.put(row);
    if (!checked.ok) {
      remove(row.kind, row.id);
      onUnusable(row.kind, row.id, reasonOf(checked.faults));
      return;
    }
    const { resource } = checked;
    if (resource.resourceType === 'Client') {
      clients.set(row.id, clientState(resource, row));
    } else if (resource.resourceType === 'AccessPolicy') policies.set(resource);
    else settings = resource;
  }

  function remove(kind: string, id: string): void {
    weights.remove({ kind, id });
    if (kind === 'Client') clients.delete(id);
    else if (kind === 'AccessPolicy') policies.remove(id);
    else if (kind === 'Box') settings = defaults;
  }

  return {
    box,
    isWhole,
    get bytes() {
      return weights.bytes;
    },
    get clients() {
      return head.locked ? nobody : clients;
    },
    get policies() {
      return head.locked ? noPolicies : policies;
    },
    get version() {
      return head.version;
    },
    get sessionsFrom() {
      return head.sessionsFrom;
    },
    get revokedBefore() {
      return head.revokedBefore;
    },
    get quota() {
      return head.quota;
    },
    get sessionsFull() {
      return head.sessionsFull;
    },
    get settings() {
      return head.locked ? defaults : settings;
    },
    get keys() {
      return head.locked ? noKeys : keys;
    },
    take(changes) {
      if (changes.version <= head.version) return;
      // First, for they throw when a row is broken: then nothing of the change is taken.
      demandReadableBox(changes.changed, onUnusable);
      keys = createKeyRing(changes.keys, sealing, box);
      for (const { kind, id } of changes.deleted) remove(kind, id);
      for (const row of changes.changed) takeRow(row);
      head = {
        version: changes.version,
        sessionsFrom: changes.sessionsFrom,
        revokedBefore: changes.revokedBefore,
        quota: changes.quota,
        sessionsFull: changes.sessionsFull,
        locked: changes.locked,
      };
    },
  };
}

/** Without its Box a box would have the defaults, which may let in whom the Box keeps out. Throws Outage. */
function demandReadableBox(
  rows: readonly ResourceRow[],
  onUnusable: (kind: string, id: string, reason: string) => void,
): void {
  for (const row of rows.filter(({ kind }) => kind === 'Box')) {
    const checked = readRow(row);
    if (checked.ok) continue;
    onUnusable(row.kind, row.id, reasonOf(checked.faults));
    throw new Outage('the Box cannot be read by this release of the API');
  }
}

function reasonOf(faults: readonly Fault[]): string {
  return faults.map(({ path, message }) => `${path} ${message}`).join('; ');
}

/**
 * Checks a stored row. A newer release may have stored fields that this one does not know: of a Client or Box they are ignored.
 * A policy with one is refused, because what the field would restrict is not known.
 */
function readRow({ kind, body }: ResourceRow): Checked<Client | AccessPolicy | Box> {
  const checked = checkResource(kind, body);
  if (checked.ok || kind === 'AccessPolicy') return checked;
  return checkResource(kind, withoutUndeclared(body, SCHEMAS[kind], () => true).value);
}

const SCHEMAS = { Client: schemaNode(clientSchema), Box: schemaNode(boxSchema) };

function clientState(declared: Client, row: ResourceRow): ClientState {
  const { version, secrets, previous, sessionsFrom, revokedBefore, isManaged } = row;
  const client = isManaged ? declared : withoutTrust(declared);
  const scopes = requestableScopes(client, isManaged);
  return { client, scopes, changedIn: version, secrets, previous, sessionsFrom, revokedBefore };
}

/** Only an administrator of the box may declare a client as first party; an older release may have stored it otherwise. */
function withoutTrust(client: Client): Client {
  return client.first_party === true ? { ...client, first_party: false } : client;
}
