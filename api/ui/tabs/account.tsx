import { useState } from 'preact/hooks';
import { isObject } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import { apiPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import type { Answer } from '../connection/answer.ts';
import { faultsIn, otherFaults } from '../connection/faults.ts';
import type { Faults } from '../connection/faults.ts';
import { inOwnLanguage } from '../connection/own-language.ts';
import { objectsOf, referencedId, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { TextField } from '../record/field.tsx';
import { Hindered } from '../record/hindered.tsx';
import { OldPassword } from '../record/old-password.tsx';
import { timeText } from './time.ts';
import { useFetched } from './use-fetched.ts';

/** The account of the signed-in user: password, sessions and consents. It needs no policy. */
export function Account() {
  const { say, email } = useUi();
  return (
    <div class="account">
      <h2>{say.tabs.account}</h2>
      <p class="soft">{say.signedInAs(email)}</p>
      <PasswordForm />
      <OwnRecords />
    </div>
  );
}

function PasswordForm() {
  const { say, request, notify } = useUi();
  const [password, setPassword] = useState('');
  const [oldPassword, setOldPassword] = useState('');
  const [faults, setFaults] = useState<Faults>({});
  const [refusal, setRefusal] = useState<Answer>();
  const path = apiPath`/account/password`;

  async function save(): Promise<void> {
    const body = JSON.stringify({ password, old_password: oldPassword });
    const answer = await request({ method: 'PUT', path, body });
    const found = answer.kind === 'refused' && answer.status !== 403 ? faultsIn(answer.body) : {};
    const isFaulty = Object.keys(found).length > 0;
    setFaults(inOwnLanguage(found, say));
    setRefusal(isFaulty || answer.kind === 'done' ? undefined : answer);
    if (answer.kind !== 'done') return;
    setPassword('');
    setOldPassword('');
    notify({ text: say.passwordChanged });
  }

  return (
    <section aria-labelledby="password-heading">
      <h3 id="password-heading">{say.changePassword}</h3>
      {refusal === undefined ? null : <Hindered answer={refusal} method="PUT" path={path} />}
      {otherFaults(faults, ['password', 'old_password']).map((text) => (
        <p key={text} class="alert" role="alert">
          {text}
        </p>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <OldPassword value={oldPassword} set={setOldPassword} faults={faults['old_password'] ?? []} />
        <TextField
          id="password"
          label={say.newPassword}
          type="password"
          autocomplete="new-password"
          value={password}
          set={setPassword}
          faults={faults['password']}
          hint={say.newPasswordHint}
        />
        <div class="actions">
          <button type="submit">{say.save}</button>
        </div>
      </form>
    </section>
  );
}

/** The sessions and consents of the user; both are read at once. */
function OwnRecords() {
  const { say } = useUi();
  const { answer, reload } = useFetched(apiPath`/account`);
  const body = answer?.kind === 'done' && isObject(answer.body) ? answer.body : {};
  return (
    <>
      <section aria-labelledby="sessions-heading">
        <h3 id="sessions-heading">{say.tabs.sessions}</h3>
        {answer === undefined ? null : <Hindered answer={answer} method="GET" path="/account" retry={reload} />}
        <OwnSessions sessions={objectsOf(body['sessions'])} reload={reload} />
      </section>
      <section aria-labelledby="grants-heading">
        <h3 id="grants-heading">{say.grantsOfUser}</h3>
        {answer?.kind === 'done' ? <OwnGrants grants={objectsOf(body['grants'])} reload={reload} /> : null}
      </section>
    </>
  );
}

function OwnSessions({ sessions, reload }: { readonly sessions: readonly JsonObject[]; readonly reload: () => void }) {
  const { say, language, notify } = useUi();
  const { isBusy, refusal, remove } = useRemoval(() => {
    notify({ text: say.sessionsEnded(1) });
    reload();
  });
  return (
    <>
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path="/account/sessions/" />}
      <ul>
        {sessions.map((session) => {
          const id = textOf(session, 'id');
          return (
            <li key={id}>
              <span id={`session-${id}`}>
                {referencedId(session, 'client')} · {textOf(session, 'remote_addr')} ·{' '}
                {timeText(textOf(session, 'created_at'), language)}
              </span>{' '}
              <button
                type="button"
                class="link"
                aria-describedby={`session-${id}`}
                disabled={isBusy}
                // If it is the session of this page, the next request gets another one.
                onClick={() => void remove(apiPath`/account/sessions/${id}`)}
              >
                {say.endSession}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function OwnGrants({ grants, reload }: { readonly grants: readonly JsonObject[]; readonly reload: () => void }) {
  const { say, notify } = useUi();
  const { isBusy, refusal, remove } = useRemoval((client) => {
    notify({ text: say.deleted(client) });
    reload();
  });
  return (
    <>
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path="/account/grants/" />}
      {grants.length === 0 ? <p class="soft">{say.noGrants}</p> : null}
      <ul>
        {grants.map((grant) => {
          const client = referencedId(grant, 'client');
          return (
            <li key={client}>
              {client} · {textOf(grant, 'scope')}{' '}
              <button
                type="button"
                class="link"
                disabled={isBusy}
                onClick={() => void remove(apiPath`/account/grants/${client}`, client)}
              >
                {say.takeBack(client)}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Returns the function that deletes one record of the user, and the state of its last call. */
function useRemoval(removed: (title: string) => void) {
  const { request } = useUi();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Answer>();
  return {
    isBusy,
    refusal,
    remove: async (path: ApiPath, title = ''): Promise<void> => {
      setBusy(true);
      const answer = await request({ method: 'DELETE', path });
      setBusy(false);
      setRefusal(answer.kind === 'done' ? undefined : answer);
      if (answer.kind === 'done') removed(title);
    },
  };
}
