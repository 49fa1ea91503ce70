import { useState, useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../connection/answer.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Ui } from '../context.ts';
import { nextPage } from '../rows/row-source.ts';
import { isObject } from '../../../crds/path.ts';

/** The emails of users, by their ID: of those that are known so far. */
type UserNames = ReadonlyMap<string, string>;

/** Requests that are sent at once. */
const AT_ONCE = 8;

/** Reads the emails of users. After the first refusal it asks no more: the viewer may not read users. */
export function useUserNames(ids: readonly string[]): UserNames {
  const { request } = useUi();
  const [names, setNames] = useState<UserNames>(new Map());
  const asked = useRef(new Set<string>()).current;
  const isRefused = useRef(false);
  const wanted = [...new Set(ids)].filter((id) => id !== '' && !asked.has(id));

  async function read(signal: AbortSignal): Promise<void> {
    while (wanted.length > 0 && !isRefused.current) {
      const some = wanted.splice(0, AT_ONCE);
      const [first = '', ...others] = some;
      for (const id of some) asked.add(id);
      const ask = (id: string): Promise<Answer> => request({ method: 'GET', path: apiPath`/users/${id}`, signal });
      // The first one alone tells whether there is a right at all, until one was granted.
      const answer = await ask(first);
      isRefused.current = answer.kind !== 'done' && !(answer.kind === 'refused' && answer.status === 404);
      if (isRefused.current) return;
      const answers = [answer, ...(await Promise.all(others.map(ask)))];
      setNames((last) => new Map([...last, ...answers.flatMap(namesIn)]));
    }
  }

  useEffect(() => {
    if (wanted.length === 0 || isRefused.current) return undefined;
    const controller = new AbortController();
    read(controller.signal).catch(() => {
      for (const id of ids) if (!names.has(id)) asked.delete(id);
    });
    return () => controller.abort();
  }, [ids.join()]);
  return names;
}

function namesIn(answer: Answer): readonly (readonly [id: string, email: string])[] {
  if (answer.kind !== 'done' || !isObject(answer.body)) return [];
  return [[textOf(answer.body, 'id'), textOf(answer.body, 'email')]];
}

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
