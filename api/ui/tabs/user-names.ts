import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { Answer } from '../connection/answer.ts';
import { apiPath } from '../connection/api-path.ts';
import { textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Row } from '../rows/row-source.ts';

/** Most rows whose users are named: each name is a request. */
const MOST_NAMED = 200;

/** Names the users of rows by their emails, where those may be read. */
export function useEmails(rows: readonly Row[]): readonly Row[] {
  const ids = rows.slice(0, MOST_NAMED).flatMap(({ user }) => user?.id ?? []);
  const names = useUserNames(ids);
  return useMemo(() => {
    if (names.size === 0) return rows;
    return rows.map((row) => {
      const email = names.get(row.user?.id ?? '');
      return email === undefined ? row : { ...row, cells: row.cells.with(row.user?.column ?? 0, email) };
    });
  }, [rows, names]);
}

/** The emails of users, by their ID: of those that are known so far. */
type UserNames = ReadonlyMap<string, string>;

/** Requests that are sent at once. */
const AT_ONCE = 8;

/** Reads the emails of users. After the first refusal it asks no more: the viewer may not read users. */
function useUserNames(ids: readonly string[]): UserNames {
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
