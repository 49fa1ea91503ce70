import { useEffect, useState } from 'preact/hooks';
import type { ApiPath } from '../connection/api-path.ts';
import type { Answer, ApiRequest } from '../connection/answer.ts';
import { useUi } from '../context.ts';

/** Reads one address, again after `reload`; the answer is undefined until it is there. */
export function useFetched(path: ApiPath): { readonly answer: Answer | undefined; readonly reload: () => void } {
  const { request } = useUi();
  const [answer, setAnswer] = useState<Answer>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    request({ method: 'GET', path, signal: controller.signal })
      .then(setAnswer)
      .catch(() => undefined);
    return () => {
      controller.abort();
    };
  }, [path, attempt]);
  return {
    answer,
    reload: () => {
      setAttempt(attempt + 1);
    },
  };
}

/** Requests that change something, one at a time. */
interface Change {
  /** True while one is under way. */
  readonly isBusy: boolean;
  /** The answer to the last one, unless it was done. */
  readonly refusal: Answer | undefined;
  /** Resolves with the answer if it is done. */
  readonly send: (request: ApiRequest) => Promise<Extract<Answer, { kind: 'done' }> | undefined>;
}

/** Returns the function that sends such a request, and the state of its last call. */
export function useChange(): Change {
  const { request } = useUi();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Answer>();
  return {
    isBusy,
    refusal,
    send: async (wanted) => {
      setBusy(true);
      const answer = await request(wanted);
      setBusy(false);
      setRefusal(answer.kind === 'done' ? undefined : answer);
      return answer.kind === 'done' ? answer : undefined;
    },
  };
}
