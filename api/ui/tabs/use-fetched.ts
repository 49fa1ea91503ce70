import { useEffect, useState } from 'preact/hooks';
import type { ApiPath } from '../connection/api-path.ts';
import type { Answer } from '../connection/answer.ts';
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
