import type { Answer } from '../connection/answer.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import type { Ui } from '../context.ts';
import { nextPage } from '../rows/row-source.ts';

/** Sessions to end: these, or the active ones of a client. */
export type Ending = { readonly ids: readonly string[] } | { readonly client: string };

/** Result: the sessions that are over, and the answer that stopped the work. */
export interface Ended {
  readonly ended: readonly string[];
  readonly refused: Answer | undefined;
}

/** Ends sessions one by one. A client's sessions are those of this moment: later ones stay. */
export async function endSessions(request: Ui['request'], ending: Ending): Promise<Ended> {
  const found = 'ids' in ending ? { ids: ending.ids, refused: undefined } : await sessionsOf(request, ending.client);
  const ended: string[] = [];
  if (found.refused !== undefined) return { ended, refused: found.refused };
  for (const id of found.ids) {
    const answer = await request({ method: 'DELETE', path: `/Session/${id}` });
    if (answer.kind !== 'done') return { ended, refused: answer };
    ended.push(id);
  }
  return { ended, refused: undefined };
}

async function sessionsOf(request: Ui['request'], client: string) {
  const ids: string[] = [];
  const fields = '_elements=id&_result=array&_total=none&_count=1000&status=active';
  let path: string | undefined = `/Session?${fields}&client=${encodeURIComponent(client)}`;
  while (path !== undefined) {
    const answer: Answer = await request({ method: 'GET', path });
    if (answer.kind !== 'done') return { ids, refused: answer };
    ids.push(...objectsOf(answer.body).map((session) => textOf(session, 'id')));
    path = nextPage(path, answer.headers.get('Link'));
  }
  return { ids, refused: undefined };
}
