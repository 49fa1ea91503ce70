import type { Readable } from 'node:stream';
import {
  createConfiguration,
  HttpMethod,
  PatchStrategy,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
  type ApiConstructor,
  type RequestContext,
} from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import type { Connection } from './cluster-config.ts';
import { answerError, KubeError, noAnswer } from './kube-error.ts';
import { createDeadline, type Deadline, unlessAborted } from '../../../program/scheduling.ts';
import { textWithin } from '../../../program/text.ts';

/** Returns a generated API of the library; each of its methods is one call. */
export type MakeApi = <T extends object>(type: ApiConstructor<T>) => T;

/** Calls one method of a generated API: `(api) => api(CoreV1Api).readNamespace({ name })`. */
export type KubeCall = (api: MakeApi) => Promise<unknown>;

/** Options of a call that its method does not have. */
export interface CallOptions {
  /** Kind of a patch, which each patch names: the library's own default is the wrong one. */
  readonly patch?: keyof typeof PATCH_TYPES;
  /** True if only the metadata of the objects are wanted (Kubernetes, API concepts: metadata-only fetches). */
  readonly metadataOnly?: boolean;
  /** Media type of the answer, which is JSON in any case; `application/json` by default. */
  readonly accept?: string;
  /** Bytes of the answer at most; beyond them the call throws KubeError `too-large`. Absent: any number. */
  readonly longest?: number;
}

/** Calls of the Kubernetes API; each ends in time, and throws KubeError on failure. */
export interface KubeApi {
  /** Returns the parsed body of the answer: as in a watch, without the models of the library, which drop fields. */
  call(call: KubeCall, signal: AbortSignal, options?: CallOptions): Promise<unknown>;
  /** Returns the body of the answer as a stream; the time limit applies only to the beginning of the answer. */
  stream(call: KubeCall, signal: AbortSignal, options?: CallOptions): Promise<Readable>;
}

const PATCH_TYPES = {
  apply: PatchStrategy.ServerSideApply,
  merge: PatchStrategy.MergePatch,
  json: PatchStrategy.JsonPatch,
} as const;

/** Options of a Kubernetes API. */
export interface KubeApiOptions {
  /** Milliseconds within which an answer must arrive; 10 seconds by default. */
  readonly timeout?: number | undefined;
  /** Called before every write; what it throws ends the call. */
  readonly onWrite?: () => void;
  /** Called for every request, with the status of its answer (0: there was none). */
  readonly onAnswer?: (request: RequestContext, status: number) => void;
}

type Body = Dispatcher.ResponseData['body'];

/**
 * Creates the Kubernetes API over a connection. After a 401 the token is read again, and the call repeated once. A late
 * answer may be lost with its connection, and others of the pool with it: the next call opens a new one.
 */
export function createKubeApi(
  connection: Connection,
  { timeout = 10_000, onWrite = () => undefined, onAnswer = () => undefined }: KubeApiOptions = {},
): KubeApi {
  /** Sends the request of a call, and returns what `read` returns for the body of its answer. */
  async function once<T>(run: Run<T>): Promise<T> {
    const config = connection.config();
    const answer = Promise.withResolvers<T>();
    const configuration = createConfiguration({
      baseServer: new ServerConfiguration(config.getCurrentCluster()?.server.replace(/\/$/, '') ?? '', {}),
      authMethods: {
        default: {
          getName: () => config.getName(),
          async applySecurityAuthentication(context) {
            run.path = new URL(context.getUrl()).pathname;
            if (context.getHttpMethod() !== HttpMethod.GET) onWrite();
            await config.applySecurityAuthentication(context).catch((error: unknown) => {
              // The library would use an empty token for a minute.
              connection.reload();
              throw noAnswer(run.path, error);
            });
          },
        },
      },
      httpApi: wrapHttpLibrary({
        async send(context) {
          try {
            answer.resolve(await run.read(await bodyOf(context, run), run.path));
          } catch (error) {
            throw noAnswer(run.path, error);
          }
          return new ResponseContext(200, { 'content-type': 'application/json' }, nothing);
        },
      }),
    });
    await run.call((type) => new type(configuration));
    return answer.promise;
  }

  async function bodyOf(context: RequestContext, { options, limit }: Run<unknown>): Promise<Body> {
    const response = await send(context, options, limit.signal).catch((error: unknown) => {
      onAnswer(context, 0);
      throw error;
    });
    const { statusCode: status, headers, body } = response;
    onAnswer(context, status);
    if (status < 200 || status > 299) throw answerError(status, single(headers['retry-after']), await body.text());
    return body;
  }

  async function signedIn<T>(run: Run<T>): Promise<T> {
    try {
      return await once(run);
    } catch (error) {
      if (!(error instanceof KubeError && error.code === 'unauthorized')) throw error;
      connection.reload();
      return once(run);
    }
  }

  /** Runs a call within its time. Throws KubeError. */
  async function within<T>(
    call: KubeCall,
    signal: AbortSignal,
    options: CallOptions,
    read: (body: Body, path: string, limit: Deadline) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const deadline = createDeadline(timeout, () => {
      connection.reload();
      return new KubeError('unavailable', `${run.path}: no answer within ${String(timeout)} ms`);
    });
    const limit = { signal: AbortSignal.any([signal, deadline.signal]), lift: () => deadline.lift() };
    const run: Run<T> = { call, options, limit, path: 'a call', read: (body, path) => read(body, path, limit) };
    try {
      // The connection goes on with a request that has a body: only the wait for it ends.
      return await unlessAborted(signedIn(run), limit.signal, () => noAnswer(run.path, limit.signal.reason));
    } finally {
      deadline.lift();
    }
  }

  return {
    call: (call, signal, options = {}) =>
      within(call, signal, options, async (body, path) => parsed(path, await textOf(options, body, path))),
    stream: (call, signal, options = {}) =>
      within(call, signal, options, async (body, _path, limit) => {
        limit.lift();
        return body;
      }),
  };
}

/** A call that runs. */
interface Run<T> {
  readonly call: KubeCall;
  readonly options: CallOptions;
  readonly limit: Deadline;
  readonly read: (body: Body, path: string) => Promise<T>;
  /** Path of the request, once it is known. */
  path: string;
}

/** An empty object, as the models of the library read it. */
const nothing = new SelfDecodingBody(Promise.resolve(Buffer.from('{}')));

/** Sends a request, over the connections of its dispatcher; `fetch` takes three times as much of the thread's time. */
async function send(
  context: RequestContext,
  options: CallOptions,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  signal.throwIfAborted();
  const { origin, pathname, search } = new URL(context.getUrl());
  const method = context.getHttpMethod();
  if (method === HttpMethod.PATCH && options.patch === undefined) throw new TypeError('a patch has no kind');
  context.setHeaderParam('User-Agent', 'boxgate-operator');
  context.setHeaderParam('Accept', accepted(context, options));
  if (options.patch !== undefined) context.setHeaderParam('Content-Type', PATCH_TYPES[options.patch]);
  const body: unknown = context.getBody();
  const sent = { origin, path: `${pathname}${search}`, method, headers: context.getHeaders() };
  const dispatcher = context.getDispatcher() ?? new Agent();
  // Node (24.21) frames the unsent body of a closed HTTP/2 stream forever, in empty DATA frames, and runs nothing else:
  // a request with a body goes on, and only the wait for it ends.
  return dispatcher.request(typeof body === 'string' ? { ...sent, body } : { ...sent, body: null, signal });
}

/** Returns the Accept header. A list, which always has a limit, returns all objects; other reads a single one. */
function accepted(context: RequestContext, { metadataOnly, accept = 'application/json' }: CallOptions): string {
  if (metadataOnly !== true) return accept;
  const { searchParams } = new URL(context.getUrl());
  return `application/json;as=PartialObjectMetadata${searchParams.has('limit') ? 'List' : ''};g=meta.k8s.io;v=v1`;
}

function textOf({ longest }: CallOptions, body: Body, path: string): Promise<string> {
  if (longest === undefined) return body.text();
  return textWithin(longest, body, () => new KubeError('too-large', `${path}: more than ${String(longest)} bytes`));
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

/** Returns the same API, limited to the metadata of objects: less to read if nothing else is wanted. */
export function metadataOnly(api: KubeApi): KubeApi {
  return {
    call: (call, signal, options) => api.call(call, signal, { ...options, metadataOnly: true }),
    stream: (call, signal, options) => api.stream(call, signal, { ...options, metadataOnly: true }),
  };
}
