import { useMemo, useRef, useState } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { apiPath } from '../connection/api-path.ts';
import type { Answer } from '../connection/answer.ts';
import { numbersOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Ui } from '../context.ts';
import { fragmentOf } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import type { BelowProps } from '../record/record-kind.ts';
import { rowOf, titleOf } from '../rows/row-source.ts';
import type { Row } from '../rows/row-source.ts';
import { useRows } from '../rows/use-rows.ts';
import { userSource } from './user-source.ts';

/** Users that are offered at once. */
const OFFERED = 5;

/** The members of a group: each can be removed, and others are found by their email and added. */
export function GroupMembers({ record, changed }: BelowProps) {
  const { say, request, notify } = useUi();
  const group = textOf(record, 'id');
  const source = useMemo(() => {
    const { find: _find, ...listed } = userSource;
    return { ...listed, path: apiPath`/users?_count=100&group-id=${group}` };
  }, [group]);
  const members = useRows(source);
  const users = useRows(userSource);
  const count = useRef(Number(textOf(record, 'members')));
  const [refusal, setRefusal] = useState<{ readonly answer: Answer; readonly path: string; readonly method: string }>();
  const [isBusy, setBusy] = useState(false);

  async function change(row: Row, isMember: boolean): Promise<void> {
    setBusy(true);
    const { answer, method } = await setMembership(request, { user: row.id, group: Number(group), isMember });
    setBusy(false);
    const isDone = answer.kind === 'done' && isObject(answer.body);
    setRefusal(isDone ? undefined : { answer, path: apiPath`/users/${row.id}`, method });
    if (!isDone) return;
    if (isMember) members.put(rowOf(source, answer.body, say));
    else members.remove(row.id);
    count.current += isMember ? 1 : -1;
    changed({ ...record, members: count.current });
    users.setFilter('');
    const title = titleOf(row);
    if (isMember) notify({ text: say.memberAdded(title) });
    else notify({ text: say.memberRemoved(title), undo: () => change(row, true) });
  }

  const isTyped = users.filter.trim() !== '';
  const known = new Set(members.shown.map(({ id }) => id));
  const offered = isTyped ? users.shown.filter(({ id }) => !known.has(id)).slice(0, OFFERED) : [];
  return (
    <section aria-labelledby="members-heading">
      <h3 id="members-heading">{say.members}</h3>
      {members.problem === undefined ? null : (
        <Hindered answer={members.problem} method="GET" path={members.path} retry={members.retry} />
      )}
      {refusal === undefined ? null : <Hindered {...refusal} />}
      <label for="new-member">{say.addMember}</label>
      <input
        id="new-member"
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={254}
        placeholder={say.beginOfEmail}
        value={users.filter}
        onInput={(event) => users.setFilter(event.currentTarget.value)}
      />
      <ul class="lines" aria-label={say.found}>
        {offered.map((row) => (
          <li key={row.id}>
            <BusyButton class="link" isBusy={isBusy} onClick={() => void change(row, true)}>
              {say.add(titleOf(row))}
            </BusyButton>
          </li>
        ))}
      </ul>
      {isTyped && offered.length === 0 && !users.isReading ? (
        <p class="soft">{say.nothingMatches(users.filter.trim())}</p>
      ) : null}
      {members.shown.length === 0 && !members.isReading && members.problem === undefined ? (
        <p class="empty">{say.noMembersYet}</p>
      ) : null}
      <ul class="lines">
        {members.shown.map((row) => (
          <li key={row.id}>
            <a href={fragmentOf('users', row.id)}>{titleOf(row)}</a>
            <BusyButton class="link" isBusy={isBusy} onClick={() => void change(row, false)}>
              {say.removeMember(titleOf(row))}
            </BusyButton>
          </li>
        ))}
      </ul>
      {members.hasMore && !members.isReading ? (
        <button type="button" class="second" onClick={members.readMore}>
          {say.more}
        </button>
      ) : null}
    </section>
  );
}

/** Whether a user is to be in a group. */
interface Membership {
  readonly user: string;
  readonly group: number;
  readonly isMember: boolean;
}

/** Adds a user to a group, or removes them: under the version that was read, for the list of groups is stored whole. */
async function setMembership(request: Ui['request'], { user, group, isMember }: Membership) {
  const path = apiPath`/users/${user}`;
  const found = await request({ method: 'GET', path });
  if (found.kind !== 'done' || !isObject(found.body)) return { answer: found, method: 'GET' };
  const body = JSON.stringify({ 'group-ids': groupsWith(found.body, group, isMember) });
  const etag = found.headers.get('ETag') ?? undefined;
  return { answer: await request({ method: 'PUT', path, body, etag }), method: 'PUT' };
}

function groupsWith(user: JsonObject, group: number, isMember: boolean): readonly number[] {
  const others = numbersOf(user['group-ids']).filter((id) => id !== group);
  return isMember ? [...others, group] : others;
}
