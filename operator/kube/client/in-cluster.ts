import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { Agent } from 'undici';
import { KubeError } from './kube-error.ts';
import type { KubeCredentialsSource } from './credentials.ts';

/** Access to the API server that every pod is given (Kubernetes: Accessing the API from a Pod). */
export interface InCluster {
  /** An address (IPv6 without brackets) or a name. */
  readonly host: string;
  readonly port: number;
  /** Folder of the files `token` and `ca.crt`. */
  readonly accountFolder: string;
}

/** As in client-go, in milliseconds: shorter than the time after which balancers drop an idle connection. */
const keepAlive = { keepAlive: true, keepAliveInitialDelay: 30_000 };

/**
 * Bytes that the API server may send before they are read, for one answer and for all (RFC 9113 §5.2). A watch shares
 * its connection with every call: with windows smaller than a large object, each such event delayed the calls (R-53).
 */
const windows = { initialWindowSize: 4_194_304, connectionWindowSize: 16_777_216 };

/**
 * Signs in as the ServiceAccount of the pod. The token and the authority are read again each time: a token is replaced
 * before its hour is over, an authority when the cluster rotates it.
 */
export function inCluster({ host, port, accountFolder }: InCluster): KubeCredentialsSource {
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`;
  return async () => {
    const [token, authority] = await Promise.all([
      textOf(path.join(accountFolder, 'token')),
      textOf(path.join(accountFolder, 'ca.crt')),
    ]);
    return {
      server,
      headers: { Authorization: `Bearer ${token}` },
      certificates: authority,
      makePool: () => new Agent({ connect: { ca: authority, ...keepAlive }, h2Options: windows }),
    };
  };
}

/** Reads a file. Throws KubeError also for an empty one: without an authority Node would trust those of the web. */
async function textOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new KubeError('unavailable', `cannot sign in: ${file} cannot be read (${codeOf(cause)})`, { cause });
  });
  if (text.trim() === '') throw new KubeError('unavailable', `cannot sign in: ${file} is empty`);
  return text.trim();
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
