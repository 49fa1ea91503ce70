import { useState } from 'preact/hooks';
import type { Answer } from '../connection/answer.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Ui } from '../context.ts';
import { nextPage } from '../rows/row-source.ts';

/** Sessions to end: these, or the active ones of a client. */
export type Ending = { readonly ids: readonly string[] } | { readonly client: string };

/** Result: the sessions that are over, and the answer that stopped the work. */
interface Ended {
  readonly ended: readonly string[];
  readonly refused: Answer | undefined;
}

/** Ends sessions one by one. A client's sessions are those of this moment: later ones stay. */
async function endSessions(request: Ui['request'], ending: Ending): Promise<Ended> {
  const found = 'ids' in ending ? { ids: ending.ids, refused: undefined } : await sessionsOf(request, ending.client);
  const ended: string[] = [];
  if (found.refused !== undefined) return { ended, refused: found.refused };
  for (const id of found.ids) {
    const answer = await request({ method: 'DELETE', path: apiPath`/Session/${id}` });
    if (answer.kind !== 'done') return { ended, refused: answer };
    ended.push(id);
  }
  return { ended, refused: undefined };
}

async function sessionsOf(request: Ui['request'], client: string) {
  const ids: string[] = [];
  const list = apiPath`/Session?_elements=id&_result=array&_count=1000&status=active`;
  let path: ApiPath | undefined = searchPath(list, 'client', client);
  while (path !== undefined) {
    const answer: Answer = await request({ method: 'GET', path });
    if (answer.kind !== 'done') return { ids, refused: answer };
    ids.push(...objectsOf(answer.body).map((session) => textOf(session, 'id')));
    path = nextPage(path, answer.headers.get('Link'));
  }
  return { ids, refused: undefined };
}

/** Ends sessions at the press of a button; `refusal` is the answer that stopped the last work. */
export interface SessionsEnd {
  readonly isBusy: boolean;
  readonly refusal: Answer | undefined;
  /** Ends sessions, tells the user how many are over, and returns them. */
  readonly end: (ending: Ending) => Promise<readonly string[]>;
}

/** Returns the function that ends sessions, and the state of its last call. */
export function useSessionsEnd(): SessionsEnd {
  const { say, request, notify } = useUi();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Answer>();
  return {
    isBusy,
    refusal,
    async end(ending) {
      setBusy(true);
      const { ended, refused } = await endSessions(request, ending);
      setBusy(false);
      setRefusal(refused);
      if (ended.length > 0) notify({ text: say.sessionsEnded(ended.length) });
      return ended;
    },
  };
}
