import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagement, type Management } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { createClusterSecrets } from '../../operator/kube/secrets/cluster-secrets.ts';
import { createClusterSource } from '../../operator/kube/source/cluster-source.ts';
import { createConnection } from '../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../operator/kube/client/kube-api.ts';
import { defaultTimes } from '../../operator/kube/client/list-watch.ts';
import { createOperatorMetrics } from '../../operator/metrics.ts';
import type { PassMeter } from '../../operator/reconcile/reconciler.ts';
import { startReconciler, type Reconciler } from '../../operator/reconcile/reconciler.ts';
import { startScriptedCluster, type ScriptedCluster } from '../support/cluster/scripted-cluster.ts';
import type { TestApi } from '../support/api.ts';
import { recordedCalls, type SentCall } from './kube/recorded-calls.ts';
import { plainOptions } from './reconciler-options.ts';
import { recordedEvents, type RecordedEvents } from './status/recorded-events.ts';

/** An event of a box. */
export interface BoxMoment {
  readonly box: string;
  readonly what: 'heard' | 'began' | 'ended';
}

/** A scripted cluster and a real API, and between them the operator's reconciler in this process. */
export interface ScriptedRig {
  readonly cluster: ScriptedCluster;
  /** Id of the cluster. */
  readonly id: string;
  readonly reconciler: Reconciler;
  readonly management: Management;
  readonly moments: readonly BoxMoment[];
  readonly events: RecordedEvents;
  /** Every call of the Kubernetes API. */
  readonly calls: readonly SentCall[];
  /** Returns how many passes of a box have started. */
  passes(box: string): number;
  /** The value of `boxgate_operator_<name>`. */
  metric(name: string): Promise<number>;
  /** Rows of this cluster in the database, in all boxes. */
  rows(): Promise<number>;
  stop(): Promise<void>;
}

/** Differences from a real operator; `declare` runs before it starts. */
export interface ScriptedRigOptions {
  readonly management?: (real: Management) => Management;
  readonly declare?: (cluster: ScriptedCluster) => void;
}

/** Starts one over an API. It sweeps once at its start, and then when it is told to. */
export async function startScriptedRig(api: TestApi, options: ScriptedRigOptions = {}): Promise<ScriptedRig> {
  const scripted = await startScriptedCluster();
  options.declare?.(scripted);
  const id = `scripted-${randomUUID()}`;
  const real = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
  const metrics = createOperatorMetrics({ leads: () => true, now: () => performance.now() });
  const { moments, meter } = recording(metrics.passes);
  const calls: SentCall[] = [];
  const events = recordedEvents();
  const listening = {
    api: recordedCalls(createKubeApi(createConnection(() => scripted.signIn())), calls),
    times: defaultTimes,
    random: Math.random,
    now: () => performance.now(),
    sleep: (wait: number, signal: AbortSignal) => sleep(wait, undefined, { signal }).catch(() => undefined),
    onFailure: () => undefined,
  };
  const { secrets, keeper } = createClusterSecrets(listening, 'boxgate-system:boxgate', events);
  const reconciler = startReconciler({
    ...plainOptions(api.url),
    source: createClusterSource({ ...listening, date: () => new Date(), secrets }),
    keeper,
    management: options.management?.(real) ?? real,
    meter,
    events,
    cluster: id,
    onFailure: () => undefined,
  });
  await reconciler.firstRound;
  return {
    cluster: scripted,
    id,
    reconciler,
    management: real,
    moments,
    events,
    calls,
    passes: (box) => moments.filter((one) => one.box === box && one.what === 'began').length,
    async metric(name) {
      const { text } = await metrics.page();
      return Number(new RegExp(`^boxgate_operator_${name} (.+)$`, 'm').exec(text)?.[1]);
    },
    async rows() {
      const boxes = await real.declaredBoxes(id, new AbortController().signal);
      return boxes.reduce((sum, { resources }) => sum + resources, 0);
    },
    async stop() {
      await reconciler.stop();
      await scripted.close();
    },
  };
}

/** The same meter, which also writes down what it is told. */
function recording(meter: PassMeter): { readonly moments: BoxMoment[]; readonly meter: PassMeter } {
  const moments: BoxMoment[] = [];
  return {
    moments,
    meter: {
      ...meter,
      heard(box) {
        moments.push({ box, what: 'heard' });
        meter.heard(box);
      },
      begin(box) {
        moments.push({ box, what: 'began' });
        const end = meter.begin(box);
        return (isGood) => {
          moments.push({ box, what: 'ended' });
          end(isGood);
        };
      },
    },
  };
}
