import type { BenchContext, FloorName } from './context.ts';
import { formRequest, type Credentials } from './load/requests.ts';
import type { Contestant } from './rounds.ts';

/** Connections of a comparison: enough that batches form, few enough that latency stays that of a statement or two. */
const connections = 64;
const warmupSeconds = 0.5;

/** A server that is sent the same requests in every round and answers 200. */
export function contestant(
  context: BenchContext,
  name: string,
  server: { pid: number; port: number },
  requests: string[],
): Contestant {
  return {
    name,
    status: 200,
    pids: [server.pid, context.postgres.pid],
    plan: () => ({ port: server.port, connections, requests, seconds: context.seconds, warmupSeconds }),
  };
}

/** A floor that issues tokens. */
export async function tokenFloor(context: BenchContext, name: FloorName): Promise<Contestant> {
  const credentials: Credentials = { id: 'bench', secret: 'bench-secret' };
  const request = formRequest('/auth/token', { grant_type: 'client_credentials' }, credentials);
  return contestant(context, name, await context.floor(name), [request]);
}
