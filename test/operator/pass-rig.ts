import { createSecretKey } from 'node:crypto';
import type { ApplyLine } from '../../api/client/desired-state.ts';
import { createManagement, type Management } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { emptyCache, type BoxCache } from '../../operator/reconcile/box-cache.ts';
import type { Declared } from '../../operator/desired/declared.ts';
import type { PassScope } from '../../operator/reconcile/box-pass.ts';
import { reconcileBox } from '../../operator/reconcile/pass.ts';
import type { Remainder } from '../../operator/reconcile/statuses.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { unthrottled } from '../support/unthrottled.ts';
import { memoryKeeper, memorySource, type MemoryKeeper, type MemorySource } from './memory-source.ts';
import { recordedEvents, type RecordedEvents } from './status/recorded-events.ts';

/** The pass over one box against a real API. */
export interface PassRig {
  readonly api: TestApi;
  readonly box: string;
  readonly source: MemorySource;
  readonly keeper: MemoryKeeper;
  readonly events: RecordedEvents;
  readonly management: Management;
  cache: BoxCache;
  /** Current time of the pass. */
  now: Date;
  /** Every call since it was last emptied: the lines that were sent. */
  readonly calls: (readonly ApplyLine[])[];
  /** Sets what is declared and runs a pass. */
  pass(objects: readonly Declared[], scope?: PassScope): Promise<Remainder>;
  /** Starts again, as after a restart: nothing is remembered. */
  restart(): Promise<void>;
  /** `Ready=True/Ready` of an object, or of another condition. */
  condition(key: string, type?: string): string | undefined;
  /** Status of a token request with a secret (of the client's generated one by default). */
  token(id: string, secret?: string): Promise<number>;
  /** The box's config version: it moves with every change of a row. */
  version(): Promise<number>;
}

/** Before the tests of a suite: an API. `take` gets a box of its own for each test. */
export function eachInBox(take: (rig: PassRig) => void): void {
  let api: TestApi;
  let boxes = 0;
  before(async () => {
    api = await startApi({ environment: unthrottled });
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxes += 1;
    take(await passRig(api, `box-${String(boxes)}`));
  });
}

/**
 * A box of this name in an API; with a source and a keeper of its own, or those of another rig and what it remembers.
 */
export async function passRig(api: TestApi, box: string, before?: PassRig): Promise<PassRig> {
  const source = before?.source ?? memorySource();
  const keeper = before?.keeper ?? memoryKeeper();
  const events = before?.events ?? recordedEvents();
  const calls: (readonly ApplyLine[])[] = [];
  const real = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
  const signal = new AbortController().signal;
  const cluster = `test-${box}`;
  const management: Management = {
    ...real,
    apply(call, stop) {
      const lines = [...call.lines];
      calls.push(lines);
      return real.apply({ ...call, lines }, stop);
    },
  };
  let epoch = await real.claimEpoch(cluster, signal);
  const rig: PassRig = {
    api,
    box,
    source,
    keeper,
    events,
    management: real,
    cache: before?.cache ?? emptyCache(),
    get now() {
      return keeper.now;
    },
    set now(time) {
      keeper.now = time;
    },
    calls,
    async pass(objects, scope = 'changes') {
      source.objects = objects.map((object) => ({ ...object, namespace: box }));
      const context = {
        source,
        keeper,
        management,
        cluster,
        epoch: () => Promise.resolve(epoch),
        digestKey: createSecretKey(Buffer.alloc(32, 3)),
        defaultIssuer: (name: string) => `${api.url}/boxes/${name}`,
        servesServiceAccounts: () => false,
        now: () => rig.now,
        random: () => 0.5,
        usagePeriod: 3_600_000,
        apiFault: () => undefined,
        isMuchMissing: () => false,
        events,
        onProgress: () => undefined,
      };
      return reconcileBox({ box, cache: rig.cache, scope, context, signal });
    },
    async restart() {
      rig.cache = emptyCache();
      epoch = await real.claimEpoch(cluster, signal);
    },
    condition(key, type = 'Ready') {
      const found = source.statuses.get(key)?.conditions.find((one) => one.type === type);
      return found === undefined ? undefined : `${found.status}/${found.reason}`;
    },
    async token(id, secret = keeper.kept.get(id)?.value.reveal() ?? '') {
      const response = await fetch(`${api.url}/boxes/${box}/auth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
      });
      return response.status;
    },
    async version() {
      const head = { cluster: `look-${box}`, epoch: await real.claimEpoch(`look-${box}`, signal), complete: false };
      const response = await fetch(`${api.managementUrl}/boxes/${box}/apply`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${api.managementKey}` },
        body: `${JSON.stringify(head)}\n`,
      });
      return Number(/"config_version":(\d+)/.exec(await response.text())?.[1]);
    },
  };
  return rig;
}
