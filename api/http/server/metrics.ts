import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { largestUses } from '../../shares/resource-use.ts';
import type { ResourceUse } from '../../shares/resource-use.ts';
import { createAnswerCounts } from './answer-counts.ts';
import type { AnswerCounts } from './answer-counts.ts';
import type { Express, Request, Response } from 'express';
import { adviceFor, Outage } from '../../db/core/outage.ts';
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
  /** Returns why each database cannot serve, by name; undefined: it can. */
  readonly databases: () => Promise<ReadonlyMap<string, string | undefined>>;
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
  for (const metric of [...ownMetrics(gauges), ...shareMetrics(shares)]) addMetric(registry, metric);
  return {
    answered: answers.add,
    async page() {
      return { contentType: registry.contentType, text: `${await registry.metrics()}\n${answers.histogram()}` };
    },
  };
}

/** A metric whose values are read when the page is requested. */
interface ReadMetric {
  readonly type: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Returns the values, each with its labels. */
  readonly read: () => Values | Promise<Values>;
}

type Values = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

function addMetric(registry: Registry, { type, name, help, labelNames = [], read }: ReadMetric): void {
  const options = {
    name,
    help,
    labelNames,
    registers: [registry],
    async collect(this: Pick<Gauge, 'reset' | 'inc'>): Promise<void> {
      const values = await read();
      this.reset();
      for (const [labels, value] of values) this.inc(labels, value);
    },
  };
  if (type === 'gauge') new Gauge(options);
  else new Counter(options);
}

/** Returns the metrics without a part for each box. */
function ownMetrics({ ready, databases, certificateEnds, ...counts }: Gauges): readonly ReadMetric[] {
  const one = (type: ReadMetric['type'], name: string, help: string, read: () => number): ReadMetric => {
    return { type, name, help, read: () => [[{}, read()]] };
  };
  return [
    {
      // While none can serve, its Service has no pod and nobody gets an answer to count.
      type: 'gauge',
      name: 'boxgate_ready',
      help: '1 if this replica can serve, as /readyz says, otherwise 0.',
      read: async () => [[{}, (await isResolved(ready())) ? 1 : 0]],
    },
    {
      type: 'gauge',
      name: 'boxgate_database_ready',
      labelNames: ['database'],
      help: '1 if this replica can serve the boxes of a database, otherwise 0.',
      read: async () =>
        Array.from(await databases(), ([database, fault]) => [{ database }, fault === undefined ? 1 : 0]),
    },
    {
      // What replaces certificates may fail long before anybody notices.
      type: 'gauge',
      name: 'boxgate_certificate_expiry_seconds',
      labelNames: ['certificate'],
      help: 'Time at which a certificate expires, in seconds since 1970.',
      read: async () => Array.from(await certificateEnds(), ([certificate, end]) => [{ certificate }, end] as const),
    },
    one('gauge', 'boxgate_boxes_in_memory', 'Boxes whose configuration is held in memory.', counts.boxesInMemory),
    one('gauge', 'boxgate_argon2_waiting', 'Secrets being hashed or waiting for it.', counts.secretsWaiting),
    one(
      'counter',
      'boxgate_policy_failures_total',
      'Decisions in which an access policy could not be compiled or gave up.',
      counts.policyFailures,
    ),
    one(
      'counter',
      'boxgate_audit_events_dropped_total',
      'Records of the audit trail that were not stored, and events that were not counted.',
      counts.auditEventsDropped,
    ),
  ];
}

function isResolved(promise: Promise<void>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

/** Returns the use of shared resources. Only some boxes have their own series; see {@link largestUses}. */
function shareMetrics(shares: readonly ResourceUse[]): readonly ReadMetric[] {
  const labelNames = ['resource', 'box'];
  const uses = (part: 'used' | 'waiting') => (): Values =>
    shares.flatMap((share) => {
      return largestUses(share.uses()).map((use) => [{ resource: share.resource, box: use.box }, use[part]] as const);
    });
  const refused = (): Values =>
    shares.flatMap((share) => {
      return [...share.refusals()].map(([box, count]) => [{ resource: share.resource, box }, count] as const);
    });
  const [used, waiting] = ['Parts of a shared resource in use.', 'Requests that wait for a shared resource.'];
  const help = 'Requests that were refused a part of a shared resource.';
  return [
    { type: 'gauge', name: 'boxgate_share_used', help: used, labelNames, read: uses('used') },
    { type: 'gauge', name: 'boxgate_share_waiting', help: waiting, labelNames, read: uses('waiting') },
    { type: 'counter', name: 'boxgate_share_refused_total', help, labelNames, read: refused },
  ];
}

/** Dependencies of the probes and the metrics page. */
export interface Probed {
  readonly metrics: Metrics;
  readonly log: Log;
  /** Resolves if the service can serve, otherwise throws the reason. */
  readonly ready: () => Promise<void>;
  /** Returns why each database cannot serve, by name; undefined: it can. Absent: there is none. */
  readonly states?: () => Promise<ReadonlyMap<string, string | undefined>>;
}

/**
 * Adds a cluster's probes of a process, without a key: `/healthz` (it runs), `/readyz` (it can serve: 503 while no
 * database can be reached and when it is about to end; `?verbose` names each database), `/metrics` (Prometheus).
 */
export function addProbes(app: Express, probed: Probed): void {
  app.get('/healthz', (_request, response) => void response.type('text').send('ok'));
  app.get('/readyz', (request, response) => readyz(probed, request, response));
  app.get('/metrics', async (_request, response) => {
    const page = await probed.metrics.page();
    response.set('Content-Type', page.contentType).send(page.text);
  });
}

async function readyz({ ready, states, log }: Probed, request: Request, response: Response): Promise<void> {
  try {
    await ready();
    const all = request.query['verbose'] === undefined || states === undefined ? [] : [...(await states())];
    response.type('text').send(['ok', ...all.map(([name, fault]) => `database ${name}: ${fault ?? 'ok'}`)].join('\n'));
  } catch (error) {
    log.warn(errorFacts(error), 'not ready');
    const text = error instanceof Outage ? adviceFor(error) : 'not ready: the log says why';
    response.status(503).type('text').send(text);
  }
}
