import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What the process counts (Prometheus). Labels never hold a part of a request but its method. */
export interface Metrics {
  /** Notes an answered request; `seconds` from its first byte to its answer. */
  answered(method: string, route: string, status: number, seconds: number): void;
  /** The page of `GET /metrics`. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Gauges that are read when the page is asked for. */
export interface Gauges {
  readonly boxesInMemory: () => number;
  readonly secretsWaiting: () => number;
}

/** A registry of its own for each API, so that two in one process do not meet. */
export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'boxgate_' });
  const requests = new Counter({
    name: 'boxgate_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'boxgate_http_request_duration_seconds',
    help: 'Time to answer a request, in seconds.',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  gauge(registry, 'boxgate_boxes_in_memory', 'Boxes whose configuration is held in memory.', gauges.boxesInMemory);
  gauge(registry, 'boxgate_argon2_waiting', 'Secrets being hashed or waiting for it.', gauges.secretsWaiting);
  // Labels are looked up once: prom-client hashes them anew at every call.
  const children = new Map<string, { count: () => void; observe: (seconds: number) => void }>();

  function child(method: string, route: string, status: number): { count: () => void; observe: (s: number) => void } {
    const key = `${method} ${route} ${String(status)}`;
    const known = children.get(key);
    if (known !== undefined) return known;
    const counter = requests.labels({ method, route, status: String(status) });
    const histogram = duration.labels({ route });
    const made = {
      count: () => {
        counter.inc();
      },
      observe: (seconds: number) => {
        histogram.observe(seconds);
      },
    };
    children.set(key, made);
    return made;
  }

  return {
    answered(method, route, status, seconds) {
      const { count, observe } = child(method, route, status);
      count();
      observe(seconds);
    },
    async page() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
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
