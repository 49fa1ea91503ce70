import type { Readable } from 'node:stream';
import { HttpMethod, RequestContext } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import type { Connection } from './cluster-config.ts';
import { answerError, KubeError, noAnswer } from './kube-error.ts';
import { createDeadline } from '../../../process/deadline.ts';
import type { Deadline } from '../../../process/deadline.ts';
import { textWithin } from '../../../process/text-within.ts';
import { unlessAborted } from '../../../process/unless-aborted.ts';

/** A call of the Kubernetes API. A patch always names its type: the library's own default is the wrong one. */
export type KubeCall =
  | {
      readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
      readonly path: string;
      readonly query?: KubeQuery;
      readonly body?: unknown;
      /** True if only the metadata of the objects are wanted (Kubernetes, API concepts: metadata-only fetches). */
      readonly metadataOnly?: boolean;
      /** Media type of the answer, which is JSON in any case; `application/json` by default. */
      readonly accept?: string;
      /** Bytes of the answer at most; beyond them the call throws KubeError `too-large`. Absent: any number. */
      readonly longest?: number;
    }
  | {
      readonly method: 'PATCH';
      readonly path: string;
      readonly query?: KubeQuery;
      readonly body: unknown;
      readonly patch: 'apply' | 'merge' | 'json';
      /** True if only the metadata of the resulting object are wanted. */
      readonly metadataOnly?: boolean;
    };

type KubeQuery = Readonly<Record<string, string | undefined>>;

/** Calls of the Kubernetes API; each ends in time, and throws KubeError on failure. */
export interface KubeApi {
  /** Returns the parsed body of the answer. */
  call(call: KubeCall, signal: AbortSignal): Promise<unknown>;
  /** Returns the body of the answer as a stream; the time limit applies only to the beginning of the answer. */
  stream(call: KubeCall, signal: AbortSignal): Promise<Readable>;
}

const PATCH_TYPES = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

/** Options of a Kubernetes API. */
interface KubeApiOptions {
  /** Milliseconds within which an answer must arrive; 10 seconds by default. */
  readonly timeout?: number | undefined;
  /** Called for every request, with the status of its answer (0: there was none). */
  readonly onAnswer?: (call: KubeCall, status: number) => void;
}

/**
 * Creates the Kubernetes API over a connection. After a 401 the token is read again, and the call repeated once. A late
 * answer may be lost with its connection, and others of the pool with it: the next call opens a new one.
 */
export function createKubeApi(
  connection: Connection,
  { timeout = 10_000, onAnswer = () => undefined }: KubeApiOptions = {},
): KubeApi {
  async function send(call: KubeCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method = 'GET', body } = call;
    const config = connection.config();
    const server = config.getCurrentCluster()?.server.replace(/\/$/, '') ?? '';
    const context = new RequestContext(`${server}${pathOf(call)}`, HttpMethod[method]);
    await config.applySecurityAuthentication(context).catch((error: unknown) => {
      // The library would use an empty token for a minute.
      connection.reload();
      throw error;
    });
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(context.getUrl());
    const headers = { ...context.getHeaders(), 'User-Agent': 'boxgate-operator', ...headersOf(call) };
    const sent = { origin, path: `${pathname}${search}`, method, headers };
    const dispatcher = context.getDispatcher() ?? new Agent();
    // Node (24.21) frames the unsent body of a closed HTTP/2 stream forever, in empty DATA frames, and never runs
    // anything else: a request with a body goes on, and only the wait for it ends.
    return dispatcher.request(
      body === undefined ? { ...sent, body: null, signal } : { ...sent, body: JSON.stringify(body) },
    );
  }

  async function answer(call: KubeCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const response = await send(call, signal).catch((error: unknown) => {
      onAnswer(call, 0);
      throw error;
    });
    const { statusCode: status, headers, body } = response;
    onAnswer(call, status);
    if (status < 200 || status > 299) throw answerError(status, single(headers['retry-after']), await body.text());
    return response;
  }

  async function signedIn(call: KubeCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      return await answer(call, signal);
    } catch (error) {
      if (!(error instanceof KubeError && error.code === 'unauthorized')) throw error;
      connection.reload();
      return answer(call, signal);
    }
  }

  const late = { timeout, onLate: () => connection.reload() };
  return {
    call: (call, signal) =>
      within(late, call, signal, async (limit) => {
        const { body } = await signedIn(call, limit.signal);
        return parsed(call.path, await textOf(call, body));
      }),
    stream: (call, signal) =>
      within(late, call, signal, async (limit) => {
        const { body } = await signedIn(call, limit.signal);
        limit.lift();
        return body;
      }),
  };
}

function textOf({ path, ...call }: KubeCall, body: Dispatcher.ResponseData['body']): Promise<string> {
  const longest = call.method === 'PATCH' ? undefined : call.longest;
  if (longest === undefined) return body.text();
  return textWithin(longest, body, () => new KubeError('too-large', `${path}: more than ${String(longest)} bytes`));
}

function headersOf(call: KubeCall): Record<string, string> {
  const accept = { Accept: accepted(call) };
  if (call.body === undefined) return accept;
  return { ...accept, 'Content-Type': call.method === 'PATCH' ? PATCH_TYPES[call.patch] : 'application/json' };
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('garbled', `${path}: the answer is not JSON`, { cause });
  }
}

/** Runs work of a call within its time; `onLate` is called when it has passed. Throws KubeError. */
async function within<T>(
  { timeout, onLate }: { readonly timeout: number; readonly onLate: () => void },
  call: KubeCall,
  signal: AbortSignal,
  work: (limit: Deadline) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const deadline = createDeadline(timeout, () => {
    onLate();
    return new KubeError('unavailable', `${call.path}: no answer within ${String(timeout)} ms`);
  });
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    // The connection goes on with a request that has a body: only the wait for it ends.
    return await unlessAborted(work({ signal: either, lift: () => deadline.lift() }), either);
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : noAnswer(call.path, error);
  } finally {
    deadline.lift();
  }
}

/** Returns the same API, limited to the metadata of objects: less to read if nothing else is wanted. */
export function metadataOnly(api: KubeApi): KubeApi {
  const only = (call: KubeCall): KubeCall => (call.method === 'PATCH' ? call : { ...call, metadataOnly: true });
  return {
    call: (call, signal) => api.call(only(call), signal),
    stream: (call, signal) => api.stream(only(call), signal),
  };
}

/** Returns the Accept header. A list, which always has a limit, returns all objects; other reads a single one. */
function accepted(call: KubeCall): string {
  if (call.metadataOnly !== true) return (call.method === 'PATCH' ? undefined : call.accept) ?? 'application/json';
  const kind = call.query?.['limit'] === undefined ? 'PartialObjectMetadata' : 'PartialObjectMetadataList';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

function pathOf({ path, query = {} }: KubeCall): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
