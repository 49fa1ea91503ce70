import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { logFacts } from '../../../program/log.ts';
import type { Log } from '../../../program/log.ts';
import type { CountedEvents } from '../../audit/counted-events.ts';
import { LONGEST_SENT, refusals } from '../../schemas/refusals.ts';
import type { RefusalDetails } from '../../schemas/refusals.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { OnBroken } from './broken-request.ts';
import type { OnAnswer } from './send.ts';

/** Counts of answers, by method, route and status, and of the time they took, by route. */
export interface AnswerCounts {
  /** Counts an answer; `seconds` from the first byte of its request. */
  readonly add: (method: string, route: string, status: number, seconds: number) => void;
  /** Returns the histogram of times in the text format of Prometheus. */
  readonly histogram: () => string;
}

/** Upper bounds of the buckets, in seconds; another bucket has what took longer. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Answers of one route. */
class RouteCounts {
  /** Numbers of answers by method, then by status. */
  readonly numbers = new Map<string, Map<number, number>>();
  /** Numbers of answers by bucket, each without those of the smaller ones. */
  readonly buckets = [...bounds, Infinity].map(() => 0);
  /** Seconds of all answers together. */
  sum = 0;

  add(method: string, status: number, seconds: number): void {
    const byStatus = this.numbers.get(method) ?? new Map<number, number>();
    this.numbers.set(method, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    let bucket = 0;
    while (seconds > (bounds[bucket] ?? Infinity)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}

/**
 * Creates the counts of a process, and registers the counter of answers. They are kept beside the registry, which would
 * look for the labels of each answer again (decision 35).
 */
export function createAnswerCounts(registry: Registry): AnswerCounts {
  const routes = new Map<string, RouteCounts>();
  new Counter({
    name: 'boxgate_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, { numbers }] of routes) {
        for (const [method, byStatus] of numbers) {
          for (const [status, number] of byStatus) this.inc({ method, route, status: String(status) }, number);
        }
      }
    },
  });
  return {
    add(method, route, status, seconds) {
      const counts = routes.get(route) ?? new RouteCounts();
      routes.set(route, counts);
      counts.add(method, status, seconds);
    },
    histogram: () => histogramText(routes),
  };
}

/** Writes a histogram as Prometheus reads it: each bucket has the answers of the smaller ones too. Routes are ours. */
function histogramText(routes: ReadonlyMap<string, RouteCounts>): string {
  const name = 'boxgate_http_request_duration_seconds';
  const lines = [`# HELP ${name} Time to answer a request, in seconds.`, `# TYPE ${name} histogram`];
  for (const [route, { buckets, sum }] of routes) {
    let count = 0;
    for (const [nth, number] of buckets.entries()) {
      count += number;
      lines.push(`${name}_bucket{le="${String(bounds[nth] ?? '+Inf')}",route="${route}"} ${String(count)}`);
    }
    lines.push(`${name}_sum{route="${route}"} ${String(sum)}`, `${name}_count{route="${route}"} ${String(count)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Something that counts answers. */
interface Answered {
  readonly answered: AnswerCounts['add'];
}

/**
 * Records every answer: one log line, one count, and one event of the audit trail if it refuses for a reason. The path
 * is the route's pattern, without any query or token.
 */
export function answerLog(log: Log, { answered }: Answered, events: Pick<CountedEvents, 'note'>): OnAnswer {
  return (requestContext, response, status) => {
    const { refusal } = requestContext;
    const sent = refusal?.sent?.slice(0, LONGEST_SENT);
    if (refusal !== undefined) noteRefusal(events, requestContext, { ...refusal, sent });
    const seconds = (performance.now() - requestContext.started) / 1000;
    const method = response.req.method ?? '';
    answered(method, requestContext.route, status, seconds);
    logFacts(log, {
      request_id: requestContext.requestId,
      box: requestContext.box === '' ? undefined : requestContext.box,
      method,
      route: requestContext.route,
      status,
      ms: Math.round(seconds * 1e5) / 100,
      remote_addr: requestContext.remoteAddr,
      client: requestContext.client,
      policy: requestContext.policy,
      error: requestContext.error,
      reason: refusal?.reason,
      sent,
    });
  };
}

/** Counts a refusal for the audit trail. */
function noteRefusal(
  events: Pick<CountedEvents, 'note'>,
  { box, remoteAddr, requestId }: RequestContext,
  { reason, sent, target, by }: RefusalDetails,
): void {
  if (box === '') return;
  const { event, result } = refusals[reason];
  const origin = { ...by, remoteAddr, requestId };
  events.note({ box, event, result, target, reason, sent, origin });
}

const broken = '(broken)';

/** Records data refused before it became a request, in the same way; nothing that was sent is in it. */
export function brokenLog(log: Log, { answered }: Answered): OnBroken {
  return ({ requestId, status, remoteAddr }) => {
    answered(broken, broken, status, 0);
    log.info({ request_id: requestId, route: broken, status, remote_addr: remoteAddr });
  };
}

/**
 * Records failed TLS handshakes: the peer and the error code, such as that of a caller who does not trust the
 * authority.
 */
export function handshakeLog(log: Log) {
  return (code: string, peer: string): void => {
    log.info({ remote_addr: peer, error: code }, 'a TLS handshake failed');
  };
}
