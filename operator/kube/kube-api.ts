import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Connection } from './connection.ts';
import { answerError, KubeError, noAnswer } from './kube-error.ts';

/** A call of the Kubernetes API. A patch always says of which sort it is: the library's own default is the wrong one. */
export type KubeCall =
  | {
      readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
      readonly path: string;
      readonly query?: KubeQuery;
      readonly body?: unknown;
      /** Only the metadata of the objects is wanted (Kubernetes, API concepts: metadata-only fetches). */
      readonly metadataOnly?: boolean;
      /** Media type of the answer, which is JSON in any case; `application/json` by default. */
      readonly accept?: string;
    }
  | {
      readonly method: 'PATCH';
      readonly path: string;
      readonly query?: KubeQuery;
      readonly body: unknown;
      readonly patch: 'apply' | 'merge' | 'json';
      /** Only the metadata of the object as it is then are wanted. */
      readonly metadataOnly?: boolean;
    };

type KubeQuery = Readonly<Record<string, string | undefined>>;

/** Calls of the Kubernetes API; each ends in time, and throws KubeError when it failed. */
export interface KubeApi {
  /** The body of the answer, parsed. */
  call(call: KubeCall, signal: AbortSignal): Promise<unknown>;
  /** The body of the answer as it comes; only the beginning of the answer is bound to the time limit. */
  stream(call: KubeCall, signal: AbortSignal): Promise<Readable>;
}

const PATCH_TYPES = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

/**
 * The Kubernetes API over a connection; an answer must be there within `timeout` milliseconds. `onCall` hears of every
 * request, `onAnswer` of the status of its answer (0: there was none). An answer 401 makes the token be read anew, and the call be made once more.
 * One that is not there in time may be lost with its connection, and the others of the pool with it: the next call takes a new one.
 */
export function createKubeApi(
  connection: Connection,
  timeout = 10_000,
  onCall: (call: KubeCall) => void = () => undefined,
  onAnswer: (call: KubeCall, status: number) => void = () => undefined,
): KubeApi {
  async function answer(call: KubeCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    onCall(call);
    const { method = 'GET' } = call;
    const sent = connection.send({ method, path: pathOf(call), headers: headersOf(call), ...bodyOf(call), signal });
    const response = await sent.catch((error: unknown) => {
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
      if (!(error instanceof KubeError && error.sort === 'unauthorized')) throw error;
      connection.reload();
      return answer(call, signal);
    }
  }

  const late = { timeout, onLate: () => connection.reload() };
  return {
    call: (call, signal) =>
      within(late, call, signal, async (limit) => {
        const text = await (await signedIn(call, limit.signal)).body.text();
        return parsed(call.path, text);
      }),
    stream: (call, signal) =>
      within(late, call, signal, async (limit) => {
        const { body } = await signedIn(call, limit.signal);
        limit.lift();
        return body;
      }),
  };
}

function headersOf(call: KubeCall): Record<string, string> {
  const accept = { Accept: accepted(call) };
  if (call.body === undefined) return accept;
  return { ...accept, 'Content-Type': call.method === 'PATCH' ? PATCH_TYPES[call.patch] : 'application/json' };
}

function bodyOf({ body }: KubeCall): { readonly body?: string } {
  return body === undefined ? {} : { body: JSON.stringify(body) };
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

interface Limit {
  readonly signal: AbortSignal;
  lift(): void;
}

async function within<T>(
  { timeout, onLate }: { readonly timeout: number; readonly onLate: () => void },
  call: KubeCall,
  signal: AbortSignal,
  work: (limit: Limit) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => {
    onLate();
    late.abort(new KubeError('unavailable', `${call.path}: no answer within ${String(timeout)} ms`));
  }, timeout);
  const limit: Limit = { signal: AbortSignal.any([signal, late.signal]), lift: () => clearTimeout(timer) };
  try {
    return await work(limit);
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : noAnswer(call.path, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The same API, of whose objects only the metadata come: less to read where nothing else is wanted. */
export function metadataOnly(api: KubeApi): KubeApi {
  const only = (call: KubeCall): KubeCall => (call.method === 'PATCH' ? call : { ...call, metadataOnly: true });
  return {
    call: (call, signal) => api.call(only(call), signal),
    stream: (call, signal) => api.stream(only(call), signal),
  };
}

/** A list, which always has a limit, answers with all objects; a watch and a read with single ones. */
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
