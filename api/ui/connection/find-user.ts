import { looksLikeEmail } from '../../../crds/user-faults.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { apiPath } from './api-path.ts';
import { objectsOf, textOf } from './members.ts';

/** Result of {@link findUser}: an ID, the answer that stood in the way, or neither if there is no such user. */
export interface FoundUser {
  readonly id?: number;
  readonly hindrance?: Answer;
}

/** Finds the ID of the user that a text names: the ID itself, or an email, for which the API is asked. */
export async function findUser(
  text: string,
  request: (request: ApiRequest) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<FoundUser> {
  if (/^\d{1,15}$/.test(text)) return { id: Number(text) };
  if (!looksLikeEmail(text)) return {};
  const path = apiPath`/users?_count=1&_total=none&email=${text}`;
  const answer = await request({ method: 'GET', path, ...(signal && { signal }) });
  if (answer.kind !== 'done') return { hindrance: answer };
  const [user] = objectsOf(answer.body);
  return user === undefined ? {} : { id: Number(textOf(user, 'id')) };
}
