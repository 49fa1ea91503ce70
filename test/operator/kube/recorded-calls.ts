import type { KubeApi, KubeCall } from '../../../operator/kube/client/kube-api.ts';

/** Returns the same API, which adds each call to a list when it begins. */
export function recordedCalls(api: KubeApi, calls: KubeCall[]): KubeApi {
  return {
    call(call, signal) {
      calls.push(call);
      return api.call(call, signal);
    },
    stream(call, signal) {
      calls.push(call);
      return api.stream(call, signal);
    },
  };
}
