import {
  createConfiguration,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import { parseJson } from '../../../crds/path.ts';
import type { CallOptions, KubeApi, KubeCall } from '../../../operator/kube/client/kube-api.ts';

/** A call as it is sent. */
export interface SentCall extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Returns what a call sends, without sending it. */
export async function sentCall(call: KubeCall, options: CallOptions = {}): Promise<SentCall> {
  const sent = Promise.withResolvers<SentCall>();
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration('http://nowhere', {}),
    httpApi: wrapHttpLibrary({
      async send(request) {
        const { pathname: path, searchParams } = new URL(request.getUrl());
        const text: unknown = request.getBody();
        const body = typeof text === 'string' ? parseJson(text) : undefined;
        sent.resolve({
          method: request.getHttpMethod(),
          path,
          query: Object.fromEntries(searchParams),
          body,
          ...options,
        });
        const nothing = new SelfDecodingBody(Promise.resolve(Buffer.from('{}')));
        return new ResponseContext(200, { 'content-type': 'application/json' }, nothing);
      },
    }),
  });
  await call((type) => new type(configuration));
  return sent.promise;
}

/** Returns the same API, which adds each call to a list when it begins, and then waits for `meanwhile`. */
export function recordedCalls(
  api: KubeApi,
  calls: SentCall[],
  meanwhile: (call: SentCall) => Promise<void> = async () => undefined,
): KubeApi {
  const record = async (call: KubeCall, options?: CallOptions): Promise<void> => {
    const sent = await sentCall(call, options);
    calls.push(sent);
    await meanwhile(sent);
  };
  return {
    async call(call, signal, options) {
      await record(call, options);
      return api.call(call, signal, options);
    },
    async stream(call, signal, options) {
      await record(call, options);
      return api.stream(call, signal, options);
    },
  };
}

/** Returns an API that answers each call by a function, and watches nothing. */
export function answeredCalls(answer: (call: SentCall) => Promise<unknown>): KubeApi {
  return {
    call: async (call, _signal, options) => answer(await sentCall(call, options)),
    stream: () => Promise.reject(new Error('nothing is watched')),
  };
}
