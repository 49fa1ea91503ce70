import type { AccessPolicy } from '../../crds/access-policy.ts';
import { boxSchema, type Box } from '../../crds/box.ts';
import { clientSchema, type Client } from '../../crds/client.ts';
import { faultSentence, joinedSentences } from '../../crds/fault.ts';
import type { Fault } from '../../crds/fault.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { withoutUndeclared } from '../../crds/unimplemented-fields.ts';
import { checkResource, type Checked } from '../../crds/validate.ts';
import { createTurns } from '../../program/scheduling.ts';
import { Outage } from '../db/core/outage.ts';
import type { ConfigChanges, ResourceRow } from '../db/box/config-changes.ts';
import type { PreviousSecret } from '../db/resource/resource.ts';
import { createPolicyIndex } from '../policy/policy-index.ts';
import type { PolicyIndex } from '../policy/policy-index.ts';
import { createKeyRing } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import type { KeySealing } from '../credentials/key-sealing.ts';
import { requestableScopes } from './scopes.ts';
import type { RequestableScopes } from './scopes.ts';
import { quotaOf } from '../../crds/quota.ts';
import type { Quota } from '../../crds/quota.ts';

/** A client as a replica holds it. */
export interface ClientState {
  readonly client: Client;
  /** Scopes that it may request. */
  readonly scopes: RequestableScopes;
  /** Config version of its last change. */
  readonly changedIn: number;
  /** Stored forms of its valid secrets. */
  readonly secrets: readonly string[];
  /** Its previous secret, still valid until its `until`. */
  readonly previous: PreviousSecret | undefined;
  /** Sessions decided under an older config version are revoked. */
  readonly sessionsFrom: number;
  /** Sessions begun before this time are revoked; milliseconds since 1970. */
  readonly revokedBefore: number | undefined;
}

/**
 * One box's configuration at one config version, as a replica holds it in memory. A locked box has no clients,
 * policies, keys or settings here, whatever is stored.
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
  /** True if the box has as many active sessions as its quota allows: it gets no new one. */
  readonly sessionsFull: boolean;
  /** True while the box is being moved to another database: a transaction tells whether it may be written. */
  readonly leaving: boolean;
  /** The stored clients. {@link builtInFrom} tells of the built-in ones. */
  readonly clients: ReadonlyMap<string, ClientState>;
  /** Origins that its active clients list. */
  readonly clientOrigins: HeldClients['origins'];
  /**
   * Sessions of built-in clients decided under an older config version are revoked: they are those of a deleted client
   * with the same ID. Undefined: a locked box has no built-in clients either.
   */
  readonly builtInFrom: number | undefined;
  readonly policies: PolicyIndex;
  readonly keys: KeyRing;
  /** Its clients and policies, and the bytes of its configuration as JSON. */
  readonly size: Pick<ConfigChanges, 'resources' | 'bytes'>;
}

/** A mutable {@link BoxState}: changes are applied in one synchronous step, so no decision sees half of them. */
export interface MovingBoxState extends BoxState {
  /** Applies changes since its version; older ones are ignored. */
  take(changes: CheckedChanges): void;
}

/** Changes whose rows may have been checked; see {@link checkChanges}. */
export interface CheckedChanges extends Omit<ConfigChanges, 'changed'> {
  readonly changed: readonly CheckedRow[];
}

interface CheckedRow extends ResourceRow {
  readonly checked?: Checked<Client | AccessPolicy | Box>;
}

/** Checks the rows of changes before they are taken; others are served meanwhile: a large row takes half a ms. */
export async function checkChanges(changes: ConfigChanges): Promise<CheckedChanges> {
  const turn = createTurns();
  const changed: CheckedRow[] = [];
  for (const row of changes.changed) {
    changed.push({ ...row, checked: readRow(row) });
    await turn();
  }
  return { ...changes, changed };
}

type Head = Pick<BoxState, 'version' | 'sessionsFrom' | 'revokedBefore' | 'quota' | 'sessionsFull' | 'leaving'> & {
  readonly builtInFrom: number;
  readonly locked: boolean;
  readonly size: BoxState['size'];
};

const nothingLoaded: Head = {
  version: 0,
  sessionsFrom: 0,
  revokedBefore: undefined,
  quota: quotaOf(),
  sessionsFull: false,
  leaving: false,
  builtInFrom: 0,
  locked: false,
  size: { resources: 0, bytes: 0 },
};

/** Clients of a locked box: none of its tokens is valid, it issues none, and its keys prove nothing. */
const nobody = createHeldClients();

/** Creates an empty state of a box, at version 0. Calls `onUnusable` for unusable rows, which grant nothing. */
export function createBoxState(
  box: string,
  sealing: KeySealing,
  onUnusable: (kind: string, id: string, reason: string) => void,
): MovingBoxState {
  const clients = createHeldClients();
  const policies = createPolicyIndex();
  const noPolicies = createPolicyIndex();
  const defaults: Box = { resourceType: 'Box', id: box };
  let head = nothingLoaded;
  let settings = defaults;
  const noKeys = createKeyRing([], sealing, box);
  let keys = noKeys;

  function takeRow(row: CheckedRow): void {
    const checked = row.checked ?? readRow(row);
    if (!checked.ok) {
      remove(row.kind, row.id);
      onUnusable(row.kind, row.id, reasonOf(checked.faults));
      return;
    }
    const { resource } = checked;
    if (resource.resourceType === 'Client') clients.put(row.id, clientState(resource, row));
    else if (resource.resourceType === 'AccessPolicy') policies.set(resource);
    else settings = resource;
  }

  function remove(kind: string, id: string): void {
    if (kind === 'Client') clients.remove(id);
    else if (kind === 'AccessPolicy') policies.remove(id);
    else if (kind === 'Box') settings = defaults;
  }

  return {
    box,
    get size() {
      return head.size;
    },
    get clients() {
      return (head.locked ? nobody : clients).all;
    },
    get clientOrigins() {
      return (head.locked ? nobody : clients).origins;
    },
    get builtInFrom() {
      return head.locked ? undefined : head.builtInFrom;
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
    get leaving() {
      return head.leaving;
    },
    get settings() {
      return head.locked ? defaults : settings;
    },
    get keys() {
      return head.locked ? noKeys : keys;
    },
    take(changes) {
      if (changes.version <= head.version) return;
      // First, because they throw if a row is broken: then none of the change is applied.
      demandReadableBox(changes.changed, onUnusable);
      keys = createKeyRing(changes.keys, sealing, box);
      for (const { kind, id } of changes.deleted) remove(kind, id);
      for (const row of changes.changed) takeRow(row);
      head = headOf(changes);
    },
  };
}

function headOf({
  version,
  sessionsFrom,
  revokedBefore,
  quota,
  sessionsFull,
  leaving,
  builtInFrom,
  locked,
  resources,
  bytes,
}: ConfigChanges): Head {
  return {
    version,
    sessionsFrom,
    revokedBefore,
    quota,
    sessionsFull,
    leaving,
    builtInFrom,
    locked,
    size: { resources, bytes },
  };
}

/** Checks that the Box is readable: the defaults might admit users whom it excludes. Throws Outage. */
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
  return joinedSentences(faults.map(faultSentence));
}

/**
 * Checks a stored row. A newer release may have stored fields that this one does not know: they are ignored in a Client
 * or Box. A policy with one is refused, because the restriction by that field is unknown.
 */
function readRow({ kind, body }: ResourceRow): Checked<Client | AccessPolicy | Box> {
  const checked = checkResource(kind, body);
  if (checked.ok || kind === 'AccessPolicy') return checked;
  return checkResource(kind, withoutUndeclared(body, SCHEMAS[kind], () => true).value);
}

const SCHEMAS = { Client: schemaNode(clientSchema), Box: schemaNode(boxSchema) };

function clientState(client: Client, row: ResourceRow): ClientState {
  const { version, secrets, previous, sessionsFrom, revokedBefore, isManaged } = row;
  const scopes = requestableScopes(client, isManaged);
  return { client, scopes, changedIn: version, secrets, previous, sessionsFrom, revokedBefore };
}

/** The clients of a box in memory, and what requests look up among all of them. */
interface HeldClients {
  readonly all: ReadonlyMap<string, ClientState>;
  /** Number of active clients for each origin that one of them lists: one lookup, however many clients there are. */
  readonly origins: ReadonlyMap<string, number>;
  put(id: string, client: ClientState): void;
  remove(id: string): void;
}

/** Creates the clients of a box that has none. */
function createHeldClients(): HeldClients {
  const all = new Map<string, ClientState>();
  const origins = new Map<string, number>();

  function count(client: Client | undefined, by: 1 | -1): void {
    if (client === undefined || client.active === false) return;
    for (const origin of client.allowed_origins ?? []) {
      const total = (origins.get(origin) ?? 0) + by;
      if (total > 0) origins.set(origin, total);
      else origins.delete(origin);
    }
  }

  return {
    all,
    origins,
    put(id, client) {
      count(all.get(id)?.client, -1);
      count(client.client, 1);
      all.set(id, client);
    },
    remove(id) {
      count(all.get(id)?.client, -1);
      all.delete(id);
    },
  };
}
