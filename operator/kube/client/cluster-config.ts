import type { AgentOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { KubeConfig, type Cluster, type DispatcherOptions, type RequestContext } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import { isObject } from '../../../crds/path.ts';
import type { ClusterAccess } from '../../config.ts';
import { KubeError, noAnswer } from './kube-error.ts';

/**
 * Bytes that the API server may send before they are read, for one answer and for all (RFC 9113 §5.2). A watch shares
 * its connection with every call: with windows smaller than a large object, each such event delayed the calls (R-53).
 */
const windows = { initialWindowSize: 4_194_304, connectionWindowSize: 16_777_216 };

/** As in client-go, in milliseconds: shorter than the time after which balancers drop an idle connection. */
const keepAlive = { keepAlive: true, keepAliveInitialDelay: 30_000 };

/**
 * The library's configuration, with one pool of connections for as long as the certificates have the same content: the
 * library creates one for each call, which would be a TLS handshake for each.
 */
export class ClusterConfig extends KubeConfig {
  #options: DispatcherOptions = { type: 'none' };
  #pool: { readonly options: DispatcherOptions; readonly dispatcher: Dispatcher } | undefined;

  /** Signs a request in. Reads the authority again, and the token after a minute; throws if a file cannot be read. */
  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    const { Authorization: authorization } = context.getHeaders();
    const provider: unknown = this.getCurrentUser()?.authProvider;
    const settings = isObject(provider) ? provider['config'] : undefined;
    const tokenFile = isObject(settings) ? settings['tokenFile'] : undefined;
    // A file may end with a line end, which no header may contain.
    if (authorization !== undefined) context.setHeaderParam('Authorization', authorization.trim());
    if (typeof tokenFile === 'string' && !/^Bearer \S/.test(authorization ?? '')) throw isEmpty(tokenFile);
    context.setDispatcher(this.#shared(context.getDispatcher()));
  }

  /** Returns the options of a pool, or `none` where the pool is created here. */
  override createDispatcherOptions(cluster: Cluster | null, agentOptions: AgentOptions): DispatcherOptions {
    // Without an authority Node.js would trust those of the web.
    if (String(agentOptions.ca ?? 'none').trim() === '') throw isEmpty(cluster?.caFile ?? 'the authority');
    this.#options = super.createDispatcherOptions(cluster, agentOptions);
    return this.#options.type === 'agent' ? { type: 'none' } : this.#options;
  }

  /** Ends the connections once they are idle. */
  close(): void {
    this.#pool?.dispatcher.close().catch(() => undefined);
    this.#pool = undefined;
  }

  #shared(proxy: Dispatcher | undefined): Dispatcher {
    const options = this.#options;
    if (this.#pool !== undefined && isDeepStrictEqual(this.#pool.options, options)) return this.#pool.dispatcher;
    this.close();
    const { ca, cert, key, servername, rejectUnauthorized }: ConnectionOptions =
      options.type === 'agent' ? options.connect : {};
    const connect = { ca, cert, key, servername, rejectUnauthorized, ...keepAlive };
    this.#pool = { options, dispatcher: proxy ?? new Agent({ connect, h2Options: windows }) };
    return this.#pool.dispatcher;
  }
}

function isEmpty(file: string): KubeError {
  return new KubeError('unavailable', `cannot sign in: ${file} is empty`);
}

/**
 * Returns the configuration of the cluster: a kubeconfig file, or what every pod is given (Kubernetes: Accessing the
 * API from a Pod). `loadFromCluster` would send the token without TLS to some ports. Throws if the file cannot be read.
 */
export function clusterConfig(access: ClusterAccess): ClusterConfig {
  const config = new ClusterConfig();
  if ('kubeconfig' in access) {
    config.loadFromFile(access.kubeconfig);
    if (config.getCurrentCluster() === null) throw new Error(`${access.kubeconfig} names no cluster`);
    return config;
  }
  const { host, port, accountFolder } = access;
  config.loadFromClusterAndUser(
    {
      name: 'cluster',
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`,
      caFile: path.join(accountFolder, 'ca.crt'),
      skipTLSVerify: false,
    },
    { name: 'pod', authProvider: { name: 'tokenFile', config: { tokenFile: path.join(accountFolder, 'token') } } },
  );
  return config;
}

/** Access to a cluster; calls share its connections. */
export interface Connection {
  /** Returns the configuration. Throws KubeError if it cannot be read. */
  config(): ClusterConfig;
  /** Discards the configuration, its token and its connections: the next call reads them again. */
  reload(): void;
}

/** Creates a connection to the cluster whose configuration `load` reads. */
export function createConnection(load: () => ClusterConfig): Connection {
  let config: ClusterConfig | undefined;
  return {
    config() {
      try {
        return (config ??= load());
      } catch (cause) {
        throw noAnswer('the configuration of the cluster', cause);
      }
    },
    reload() {
      config?.close();
      config = undefined;
    },
  };
}
