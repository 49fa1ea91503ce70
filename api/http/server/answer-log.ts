import { logFacts } from '../../../process/log.ts';
import type { Log } from '../../../process/log.ts';
import type { Metrics } from './metrics.ts';
import type { OnBroken } from './broken-request.ts';
import type { OnAnswer } from './send.ts';

/** Records every answer: one log line, one count. The path is the route's pattern, without any query or token. */
export function answerLog(log: Log, metrics: Metrics): OnAnswer {
  return (requestContext, response, status) => {
    const seconds = (performance.now() - requestContext.started) / 1000;
    const method = response.req.method ?? '';
    metrics.answered(method, requestContext.route, status, seconds);
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
      reason: requestContext.reason,
    });
  };
}

const broken = '(broken)';

/** Records data refused before it became a request, in the same way; nothing that was sent is in it. */
export function brokenLog(log: Log, metrics: Metrics): OnBroken {
  return ({ requestId, status, remoteAddr }) => {
    metrics.answered(broken, broken, status, 0);
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
