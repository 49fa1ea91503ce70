import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { bodyOf } from '../connection/answer.ts';
import type { Answer } from '../connection/answer.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { objectsOf, referencedId, textOf, timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { nextPage, titleOf } from '../rows/row-source.ts';
import type { RowSource } from '../rows/row-source.ts';
import type { Rows } from '../rows/use-rows.ts';
import { Detail, Facts, ReadTab } from './detail.tsx';
import { useFetched } from './use-fetched.ts';
import { useEmails } from './user-names.ts';

const LIST = apiPath`/Session?_result=array&status=active&_count=100`;

/** The active sessions, newest first: a number finds those of a user, another text those of a client. */
const sessionSource: RowSource = {
  path: LIST,
  readsAll: false,
  useMore: useEmails,
  columns: [
    { header: (say) => say.who, cell: subjectOf },
    { header: (say) => say.client, cell: (session) => referencedId(session, 'client'), from: 'medium' },
    { header: (say) => say.type, cell: (session) => textOf(session, 'type'), from: 'wide' },
    { header: (say) => say.address, cell: (session) => textOf(session, 'remote_addr'), from: 'wide' },
    { header: (say) => say.started, cell: (session) => ({ time: textOf(session, 'created_at') }), sort: 'created_at' },
    { header: (say) => say.expires, cell: (session) => ({ time: textOf(session, 'expires_at') }), from: 'medium' },
  ],
  userOf: (session) => {
    const id = referencedId(session, 'user');
    return id === '' ? undefined : { id, column: 0 };
  },
  sorted: { column: 4, isDescending: true },
  findByUser: (user) => searchPath(LIST, 'user', String(user)),
  find: (text) => searchPath(LIST, /^\d{1,15}$/.test(text) ? 'user' : 'client', text),
};

/** Names the user of a session, or the client of one without a user. */
function subjectOf(session: JsonObject, say: Messages): string {
  const user = referencedId(session, 'user');
  return user === '' ? say.clientSubject(referencedId(session, 'client')) : say.userSubject(user);
}

/** The tab with the active sessions of the box. */
export function Sessions({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return (
    <ReadTab place={place} source={sessionSource} empty={say.noSessionsYet}>
      {(id, rows) => <SessionDetail key={id} id={id} rows={rows} />}
    </ReadTab>
  );
}

function SessionDetail({ id, rows }: { readonly id: string; readonly rows: Rows }) {
  const { say, language } = useUi();
  const heading = (session: JsonObject | undefined): string => {
    if (session === undefined) return say.session;
    const row = rows.shown.find((one) => one.id === id);
    const subject = row === undefined ? subjectOf(session, say) : titleOf(row);
    return referencedId(session, 'user') === '' ? subject : `${subject} · ${referencedId(session, 'client')}`;
  };
  return (
    <Detail tab="sessions" path={apiPath`/Session/${id}`} heading={heading}>
      {(session) => {
        const userId = referencedId(session, 'user');
        return (
          <>
            <Facts
              facts={[
                [say.user, userId === '' ? '' : <UserName id={userId} />],
                [say.client, referencedId(session, 'client')],
                [say.address, textOf(session, 'remote_addr')],
                [say.started, timeText(textOf(session, 'created_at'), language)],
                [say.expires, timeText(textOf(session, 'expires_at'), language)],
                [say.status, textOf(session, 'status')],
                [say.type, textOf(session, 'type')],
                [say.scope, textOf(session, 'scope')],
                [say.userAgent, textOf(session, 'user_agent')],
                ['ID', id],
              ]}
            />
            <SessionActions id={id} client={referencedId(session, 'client')} rows={rows} />
          </>
        );
      }}
    </Detail>
  );
}

/** Names a user by the email where it may be read, with the ID. */
function UserName({ id }: { readonly id: string }) {
  const email = textOf(bodyOf(useFetched(apiPath`/users/${id}`).answer), 'email');
  return <>{email === '' ? id : `${email} (${id})`}</>;
}

/** Ends one session, or all of its client. */
function SessionActions({ id, client, rows }: { readonly id: string; readonly client: string; readonly rows: Rows }) {
  const { say, request, notify } = useUi();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Answer>();

  /** Ends sessions one by one, until an answer refuses it; tells how many are over. */
  async function end(found: Promise<readonly string[] | Answer>): Promise<void> {
    setBusy(true);
    const ids = await found;
    const ended: string[] = [];
    let refused = 'kind' in ids ? ids : undefined;
    for (const one of 'kind' in ids ? [] : ids) {
      const answer = await request({ method: 'DELETE', path: apiPath`/Session/${one}` });
      if (answer.kind === 'done') ended.push(one);
      else {
        refused = answer;
        break;
      }
    }
    setBusy(false);
    setRefusal(refused);
    if (ended.length > 0) notify({ text: say.sessionsEnded(ended.length) });
    for (const one of ended) rows.remove(one);
    if (ended.includes(id)) goTo('sessions');
  }

  /** Returns the active sessions of the client at this moment: later ones stay. */
  async function sessionsOfClient(): Promise<readonly string[] | Answer> {
    const list = apiPath`/Session?_elements=id&_result=array&_count=1000&status=active`;
    const ids: string[] = [];
    let path: ApiPath | undefined = searchPath(list, 'client', client);
    while (path !== undefined) {
      const answer: Answer = await request({ method: 'GET', path });
      if (answer.kind !== 'done') return answer;
      ids.push(...objectsOf(answer.body).map((session) => textOf(session, 'id')));
      path = nextPage(path, answer.headers.get('Link'));
    }
    return ids;
  }

  return (
    <>
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path={apiPath`/Session/${id}`} />}
      <div class="actions">
        <BusyButton class="danger" isBusy={isBusy} onClick={() => void end(Promise.resolve([id]))}>
          {say.endSession}
        </BusyButton>
        <BusyButton class="second danger" isBusy={isBusy} onClick={() => void end(sessionsOfClient())}>
          {say.endSessionsOf(client)}
        </BusyButton>
      </div>
    </>
  );
}
