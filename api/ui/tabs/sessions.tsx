import { useMemo } from 'preact/hooks';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { apiPath, searchPath } from '../connection/api-path.ts';
import { referencedId, textOf, timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Ui } from '../context.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import type { Row, RowSource } from '../rows/row-source.ts';
import { useRows } from '../rows/use-rows.ts';
import type { Rows } from '../rows/use-rows.ts';
import { Columns, Detail, Facts } from './detail.tsx';
import { useSessionsEnd, useUserNames } from './end-sessions.ts';
import type { Ending } from './end-sessions.ts';
import { useFetched } from './use-fetched.ts';

const LIST = apiPath`/Session?_result=array&status=active&_count=100`;

/** Returns the active sessions, newest first: a number finds those of a user, another text those of a client. */
function sessionSource({ say, language }: Pick<Ui, 'say' | 'language'>): RowSource {
  return {
    path: LIST,
    readsAll: false,
    rowOf: (session) => ({
      id: textOf(session, 'id'),
      title: subjectOf(session, say),
      user: userOf(session),
      detail: [textOf(session, 'remote_addr'), timeText(textOf(session, 'created_at'), language)]
        .filter(Boolean)
        .join(' · '),
    }),
    findByUser: (user) => searchPath(LIST, 'user', String(user)),
    find: (text) => searchPath(LIST, /^\d{1,15}$/.test(text) ? 'user' : 'client', text),
  };
}

/** Names the user and the client of a session; a session of a client alone has no user. */
function subjectOf(session: JsonObject, say: Ui['say']): string {
  const [client, user] = [referencedId(session, 'client'), referencedId(session, 'user')];
  return user === '' ? say.clientSubject(client) : say.userSubject(user, client);
}

function userOf(session: JsonObject): Row['user'] {
  const [client, id] = [referencedId(session, 'client'), referencedId(session, 'user')];
  return id === '' ? undefined : { id, titled: (email) => `${email} · ${client}` };
}

/** Most rows whose users are named: each name is a request. */
const MOST_NAMED = 200;

/** Names the users of sessions by their emails, where those may be read. */
function useEmails(rows: readonly Row[]): readonly Row[] {
  const ids = rows.slice(0, MOST_NAMED).flatMap(({ user }) => user?.id ?? []);
  const names = useUserNames(ids);
  return useMemo(() => {
    if (names.size === 0) return rows;
    return rows.map((row) => {
      const email = names.get(row.user?.id ?? '');
      return email === undefined || row.user === undefined ? row : { ...row, title: row.user.titled(email) };
    });
  }, [rows, names]);
}

/** The tab with the active sessions of the box. */
export function Sessions({ place }: { readonly place: Place }) {
  const ui = useUi();
  const { say } = ui;
  const source = useMemo(() => sessionSource(ui), [ui.language]);
  const rows = useRows(source, useEmails);
  const { id } = place;
  return (
    <Columns place={place} isOpen={id !== undefined} title={say.tabs.sessions} rows={rows} path="/Session">
      {id === undefined ? undefined : <SessionDetail key={id} id={id} rows={rows} />}
    </Columns>
  );
}

function SessionDetail({ id, rows }: { readonly id: string; readonly rows: Rows }) {
  const { say, language } = useUi();
  const heading = (session: JsonObject | undefined): string => {
    if (session === undefined) return say.session;
    return rows.shown.find((row) => row.id === id)?.title ?? subjectOf(session, say);
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
  const { answer } = useFetched(apiPath`/users/${id}`);
  const email = answer?.kind === 'done' && isObject(answer.body) ? textOf(answer.body, 'email') : '';
  return <>{email === '' ? id : `${email} (${id})`}</>;
}

/** Ends one session, or all of its client. */
function SessionActions({ id, client, rows }: { readonly id: string; readonly client: string; readonly rows: Rows }) {
  const { say } = useUi();
  const { isBusy, refusal, end } = useSessionsEnd();

  async function endShown(ending: Ending): Promise<void> {
    const ended = await end(ending);
    for (const one of ended) rows.remove(one);
    if (ended.includes(id)) goTo('sessions');
  }

  return (
    <>
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path={apiPath`/Session/${id}`} />}
      <div class="actions">
        <BusyButton class="danger" isBusy={isBusy} onClick={() => void endShown({ ids: [id] })}>
          {say.endSession}
        </BusyButton>
        <BusyButton class="second danger" isBusy={isBusy} onClick={() => void endShown({ client })}>
          {say.endSessionsOf(client)}
        </BusyButton>
      </div>
    </>
  );
}
