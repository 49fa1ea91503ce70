import type { Express, Response } from 'express';
import { adviceFor } from '../../db/core/advice.ts';
import { Outage } from '../../db/core/outage.ts';
import { errorFacts } from '../../../program/log.ts';
import type { Log } from '../../../program/log.ts';
import type { Metrics } from './metrics.ts';

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
