import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BoxCache } from './reconcile/box-cache.ts';
import { inAllBoxes, isMassDeletion } from './reconcile/deletion.ts';
import type { PassMeter } from './reconcile/reconciler.ts';
import type { InstalledKinds } from './desired/source.ts';

/** Metrics of the operator (Prometheus). Labels never contain the name of an object. */
export interface OperatorMetrics {
  readonly passes: PassMeter;
  /** Counts a request to the API server; code 0: there was no answer. */
  answered(verb: string, code: number): void;
  /** Counts a list or a watch that failed and starts again; `isGarbled`: its content was invalid. */
  watchFailed(isGarbled: boolean): void;
  /** Counts a read of a box's usage that failed. */
  usageFailed(): void;
  /** Counts an event that could not be recorded. */
  eventLost(): void;
  /** Returns the page of `GET /metrics`. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Sources of the metrics. */
export interface MetricsOptions {
  /** Checks whether this replica leads. */
  readonly leads: () => boolean;
  /** Returns the definitions in the cluster; absent: those of this release. */
  readonly definitions?: () => InstalledKinds;
  /** Returns the rights that the operator lacks; absent: none. */
  readonly missingRights?: () => readonly string[];
  /** Milliseconds, from a clock that never goes back. */
  readonly now: () => number;
}

/** Creates metrics with a registry of their own. */
export function createOperatorMetrics({ leads, definitions, missingRights, now }: MetricsOptions): OperatorMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'boxgate_' });
  const count = (name: string, help: string, labelNames: string[] = []): Counter =>
    new Counter({ name: `boxgate_operator_${name}`, help, labelNames, registers: [registry] });
  const requests = count('kubernetes_requests_total', 'Requests to the API server.', ['verb', 'code']);
  const restarts = count('watch_restarts_total', 'Lists and watches that failed and started again.');
  const garbled = count('garbled_answers_total', 'Lists and watches that held what should not be in them.');
  const eventsLost = count('events_lost_total', 'Events that could not be told.');
  const usageFailures = count('usage_failures_total', 'Reads of the usage of a box that failed.');
  definitionGauge(registry, () => definitions?.() ?? new Map());
  const rightsHelp = 'Rights that the operator needs in every namespace, and lacks.';
  gauge(registry, 'missing_rights', rightsHelp, () => missingRights?.().length ?? 0);
  gauge(registry, 'leader', 'Whether this replica leads.', () => (leads() ? 1 : 0));
  return {
    passes: passMeter(registry, now),
    answered: (verb, code) => requests.inc({ verb, code: code === 0 ? 'none' : String(code) }),
    watchFailed(isGarbled) {
      restarts.inc();
      if (isGarbled) garbled.inc();
    },
    usageFailed: () => usageFailures.inc(),
    eventLost: () => eventsLost.inc(),
    async page() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Measures passes. A change is live at the end of the first successful pass that started after the change was seen. */
function passMeter(registry: Registry, now: () => number): PassMeter {
  const [registers, buckets] = [[registry], secondsBuckets];
  const passSeconds = new Histogram({
    name: 'boxgate_operator_pass_seconds',
    help: 'Time of a pass over a box, in seconds.',
    labelNames: ['result'],
    registers,
    buckets,
  });
  const liveSeconds = new Histogram({
    name: 'boxgate_operator_apply_to_live_seconds',
    help: 'From when the newest change of a box was heard of until the pass that made it live has ended, in seconds.',
    registers,
    buckets,
  });
  let waiting = (): number => 0;
  gauge(registry, 'queue_depth', 'Boxes that wait for a pass.', () => waiting());
  let boxes = (): Iterable<BoxCache> => [];
  const missingHelp = 'Objects that lists of the API server lack, and that reads do not find to be gone.';
  gauge(registry, 'missing_objects', missingHelp, () => inAllBoxes(boxes()).missing);
  const withheldHelp = 'Whether lists lack so much that nothing is removed for want of being listed.';
  gauge(registry, 'removals_withheld', withheldHelp, () => (isMassDeletion(inAllBoxes(boxes())) ? 1 : 0));
  new Gauge({
    name: 'boxgate_operator_objects',
    help: 'Objects by kind, condition and its status (True, False, Unknown), as their statuses were published.',
    labelNames: ['kind', 'condition', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { published } of boxes()) {
        for (const { desired, transitions } of published.values()) {
          const { kind } = desired.object;
          for (const { type: condition, status } of transitions) this.inc({ kind, condition, status });
        }
      }
    },
  });
  const heard = new Map<string, number>();
  return {
    measure: (...sources) => void ([waiting, boxes] = sources),
    heard: (box) => void heard.set(box, now()),
    begin(box) {
      const began = now();
      const change = heard.get(box);
      heard.delete(box);
      return (isGood) => {
        passSeconds.observe({ result: isGood ? 'good' : 'failed' }, (now() - began) / 1000);
        if (change === undefined) return;
        if (isGood) liveSeconds.observe((now() - change) / 1000);
        else if (!heard.has(box)) heard.set(box, change);
      };
    },
  };
}

function definitionGauge(registry: Registry, read: () => InstalledKinds): void {
  new Gauge({
    name: 'boxgate_operator_definition_fields',
    help: 'Fields by which the custom resource definitions of the cluster differ from this release, by kind; newer: only the cluster knows them, older: only this release does.',
    labelNames: ['kind', 'definition'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, { newer, missing, unwritable }] of read()) {
        this.set({ kind, definition: 'newer' }, newer.size);
        this.set({ kind, definition: 'older' }, missing.size + unwritable.size);
      }
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name: `boxgate_operator_${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
