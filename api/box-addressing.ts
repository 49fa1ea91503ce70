import { isIP } from 'node:net';
import type { ApiConfig } from './config.ts';
import { batchedHosts, batchedRootBox } from './db/box/host.ts';
import type { Connections } from './db/core/pool.ts';
import type { BoxAddressing } from './http/request/box-address.ts';

/** Creates the addressing of an installation's boxes from its settings and the database. */
export function boxAddressing(
  config: Pick<ApiConfig, 'clusterDomain' | 'publicUrl' | 'standalone'>,
  pool: Connections,
): BoxAddressing {
  const own = new Set([new URL(config.publicUrl).hostname, 'localhost', 'boxgate-api']);
  return {
    clusterDomain: config.clusterDomain,
    isForeignHost: (host) => !own.has(host) && isIP(host.replace(/^\[|\]$/g, '')) === 0,
    boxOfHost: batchedHosts(pool),
    rootBox: config.standalone ? batchedRootBox(pool) : () => Promise.resolve(undefined),
  };
}
