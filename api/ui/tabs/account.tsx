import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../crds/json-value.ts';
import type { Answer } from '../connection/answer.ts';
import { faultsIn, otherFaults } from '../connection/faults.ts';
import type { Faults } from '../connection/faults.ts';
import { inOwnLanguage } from '../connection/own-language.ts';
import { objectsOf, referencedId, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { TextField } from '../record/field.tsx';
import { Hindered } from '../record/hindered.tsx';
import { OldPassword } from '../record/old-password.tsx';
import { useSessionsEnd } from './end-sessions.ts';
import { timeText } from './time.ts';
import { useFetched } from './use-fetched.ts';

/** The account of the signed-in user: password, sessions and consents, as far as the policies allow. */
export function Account() {
  const { say, email } = useUi();
  return (
    <div class="account">
      <h2>{say.tabs.account}</h2>
      <p class="soft">{say.signedInAs(email)}</p>
      <PasswordForm />
      <OwnSessions />
      <OwnGrants />
    </div>
  );
}

function PasswordForm() {
  const { say, user, request, notify } = useUi();
  const [password, setPassword] = useState('');
  const [oldPassword, setOldPassword] = useState('');
  const [faults, setFaults] = useState<Faults>({});
  const [refusal, setRefusal] = useState<Answer>();
  const path = `/users/${user}`;

  async function save(): Promise<void> {
    const body = JSON.stringify({ password, ...(oldPassword !== '' && { old_password: oldPassword }) });
    const answer = await request({ method: 'PUT', path, body });
    const isFaulty = answer.kind === 'refused' && answer.status !== 403;
    setFaults(isFaulty ? inOwnLanguage(faultsIn(answer.body), say) : {});
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
        <OldPassword value={oldPassword} set={setOldPassword} faults={faults['old_password']} />
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

function OwnSessions() {
  const { say, user, language } = useUi();
  const path = `/Session?_result=array&status=active&user=${user}`;
  const { answer, reload } = useFetched(path);
  const { isBusy, refusal, end } = useSessionsEnd();
  const sessions = answer?.kind === 'done' ? objectsOf(answer.body) : [];

  /** Ends one session. If it is that of this page, the next request gets a new one. */
  async function endOne(id: string): Promise<void> {
    if ((await end({ ids: [id] })).length > 0) reload();
  }

  return (
    <section aria-labelledby="sessions-heading">
      <h3 id="sessions-heading">{say.tabs.sessions}</h3>
      {answer === undefined ? null : <Hindered answer={answer} method="GET" path={path} retry={reload} />}
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path="/Session/" />}
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
                onClick={() => void endOne(id)}
              >
                {say.endSession}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function OwnGrants() {
  const { say, user, request, notify } = useUi();
  const path = `/Grant?_result=array&user=${user}`;
  const { answer, reload } = useFetched(path);
  const [refusal, setRefusal] = useState<Answer>();
  const grants = answer?.kind === 'done' ? objectsOf(answer.body) : [];

  async function takeBack(grant: JsonObject): Promise<void> {
    const removed = await request({ method: 'DELETE', path: `/Grant/${textOf(grant, 'id')}` });
    setRefusal(removed.kind === 'done' ? undefined : removed);
    if (removed.kind !== 'done') return;
    notify({ text: say.deleted(referencedId(grant, 'client')) });
    reload();
  }

  return (
    <section aria-labelledby="grants-heading">
      <h3 id="grants-heading">{say.grantsOfUser}</h3>
      {answer === undefined ? null : <Hindered answer={answer} method="GET" path={path} retry={reload} />}
      {refusal === undefined ? null : <Hindered answer={refusal} method="DELETE" path={`/Grant/${user}.`} />}
      {answer?.kind === 'done' && grants.length === 0 ? <p class="soft">{say.noGrants}</p> : null}
      <ul>
        {grants.map((grant) => (
          <li key={textOf(grant, 'id')}>
            {referencedId(grant, 'client')} · {textOf(grant, 'scope')}{' '}
            <button type="button" class="link" onClick={() => void takeBack(grant)}>
              {say.takeBack(referencedId(grant, 'client'))}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
