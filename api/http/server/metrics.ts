import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { largestUses } from '../../shares/resource-use.ts';
import type { ResourceUse } from '../../shares/resource-use.ts';
import { createAnswerCounts } from './answer-counts.ts';
import type { AnswerCounts } from './answer-counts.ts';
import type { Express, Response } from 'express';
import { adviceFor } from '../../db/core/advice.ts';
import { Outage } from '../../db/core/outage.ts';
import { errorFacts } from '../../../program/log.ts';
import type { Log } from '../../../program/log.ts';

/** Metrics of the process (Prometheus). Labels contain no part of a request but its method. */
export interface Metrics {
  /** Counts an answer. */
  readonly answered: AnswerCounts['add'];
  /** Returns the page of `GET /metrics`. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Gauges that are read when the page is requested. */
export interface Gauges {
  /** Resolves if this replica can serve; throws if it cannot. */
  readonly ready: () => Promise<void>;
  /** Ends of certificates in seconds since 1970, by their use. */
  readonly certificateEnds: () => Promise<ReadonlyMap<string, number>>;
  readonly boxesInMemory: () => number;
  readonly secretsWaiting: () => number;
  /** Decisions in which a policy failed, since the start. */
  readonly policyFailures: () => number;
  /** Records of the audit trail that were not stored, and events that were not counted, since the start. */
  readonly auditEventsDropped: () => number;
}

/** Creates a registry for each API, so that two in one process are separate. `shares` are the resources boxes share. */
export function createMetrics(gauges: Gauges, shares: readonly ResourceUse[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'boxgate_' });
  const answers = createAnswerCounts(registry);
  addReadiness(registry, gauges.ready);
  addCertificates(registry, gauges.certificateEnds);
  gauge(registry, 'boxgate_boxes_in_memory', 'Boxes whose configuration is held in memory.', gauges.boxesInMemory);
  gauge(registry, 'boxgate_argon2_waiting', 'Secrets being hashed or waiting for it.', gauges.secretsWaiting);
  addShares(registry, shares);
  total(
    registry,
    'boxgate_policy_failures_total',
    'Decisions in which an access policy could not be compiled or gave up.',
    gauges.policyFailures,
  );
  total(
    registry,
    'boxgate_audit_events_dropped_total',
    'Records of the audit trail that were not stored, and events that were not counted.',
    gauges.auditEventsDropped,
  );
  return {
    answered: answers.add,
    async page() {
      return { contentType: registry.contentType, text: `${await registry.metrics()}\n${answers.histogram()}` };
    },
  };
}

/** Adds whether the replica can serve. While none can, its Service has no pod and nobody gets an answer to count. */
function addReadiness(registry: Registry, ready: Gauges['ready']): void {
  new Gauge({
    name: 'boxgate_ready',
    help: '1 if this replica can serve, as /readyz says, otherwise 0.',
    registers: [registry],
    async collect() {
      this.set(
        await ready().then(
          () => 1,
          () => 0,
        ),
      );
    },
  });
}

/** Adds when certificates expire: what replaces them may fail long before anybody notices. */
function addCertificates(registry: Registry, ends: Gauges['certificateEnds']): void {
  new Gauge({
    name: 'boxgate_certificate_expiry_seconds',
    help: 'Time at which a certificate expires, in seconds since 1970.',
    labelNames: ['certificate'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [certificate, end] of await ends()) this.set({ certificate }, end);
    },
  });
}

const shareLabels = ['resource', 'box'] as const;

/** Adds the use of shared resources. Only some boxes have their own series; see {@link largestUses}. */
function addShares(registry: Registry, shares: readonly ResourceUse[]): void {
  for (const part of ['used', 'waiting'] as const) {
    new Gauge({
      name: `boxgate_share_${part}`,
      help: part === 'used' ? 'Parts of a shared resource in use.' : 'Requests that wait for a shared resource.',
      labelNames: shareLabels,
      registers: [registry],
      collect() {
        this.reset();
        for (const share of shares) {
          const { resource } = share;
          for (const use of largestUses(share.uses())) this.set({ resource, box: use.box }, use[part]);
        }
      },
    });
  }
  new Counter({
    name: 'boxgate_share_refused_total',
    help: 'Requests that were refused a part of a shared resource.',
    labelNames: shareLabels,
    registers: [registry],
    collect() {
      this.reset();
      for (const share of shares) {
        const { resource } = share;
        for (const [box, count] of share.refusals()) this.inc({ resource, box }, count);
      }
    },
  });
}

function total(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** Dependencies of the probes and the metrics page. */
export interface Probed {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Resolves if the service can serve, otherwise throws the reason. */
  readonly ready: () => Promise<void>;
}

/**
 * Adds a cluster's probes of a process, without a key: `/healthz` (it runs), `/readyz` (it can serve: 503 while
 * Postgres is unreachable and when it is about to end), `/metrics` (Prometheus).
 */
export function addProbes(app: Express, probed: Probed): void {
  app.get('/healthz', (_request, response) => void response.type('text').send('ok'));
  app.get('/readyz', (_request, response) => readyz(probed, response));
  app.get('/metrics', async (_request, response) => {
    const page = await probed.metrics.page();
    response.set('Content-Type', page.contentType).send(page.text);
  });
}

async function readyz({ ready, log }: Probed, response: Response): Promise<void> {
  try {
    await ready();
    response.type('text').send('ok');
  } catch (error) {
    log.warn(errorFacts(error), 'not ready');
    const text = error instanceof Outage ? adviceFor(error) : 'not ready: the log says why';
    response.status(503).type('text').send(text);
  }
}
