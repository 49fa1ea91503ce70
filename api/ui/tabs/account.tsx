import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { apiPath } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import type { Faults } from '../connection/answer.ts';
import { bodyOf, faultsIn, otherFaults } from '../connection/answer.ts';
import { inOwnLanguage } from '../connection/own-language.ts';
import { objectsOf, referencedId, textOf, timeText } from '../connection/members.ts';
import { useUi, usePageTitle } from '../context.ts';
import { AnswerAlert } from '../record/answer-alert.tsx';
import { TextField, OldPassword } from '../record/field.tsx';
import { useChange, useFetched } from './use-fetched.ts';

/** The account of the signed-in user: password, sessions and consents. It needs no policy. */
export function Account() {
  const { say, email } = useUi();
  usePageTitle(say.tabs.account);
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
  const { say, notify } = useUi();
  const [password, setPassword] = useState('');
  const [oldPassword, setOldPassword] = useState('');
  const { isBusy, refusal, send } = useChange();
  const faults: Faults = refusal?.kind === 'refused' ? inOwnLanguage(faultsIn(refusal.body), say) : {};

  async function save(): Promise<void> {
    const body = JSON.stringify({ password, old_password: oldPassword });
    if ((await send({ method: 'PUT', path: apiPath`/account/password`, body })) === undefined) return;
    setPassword('');
    setOldPassword('');
    notify({ text: say.passwordChanged });
  }

  return (
    <section aria-labelledby="password-heading">
      <h3 id="password-heading">{say.changePassword}</h3>
      {refusal === undefined || Object.keys(faults).length > 0 ? null : <AnswerAlert answer={refusal} />}
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
          <BusyButton isBusy={isBusy}>{say.save}</BusyButton>
        </div>
      </form>
    </section>
  );
}

/** The sessions and consents of the user; both are read at once. */
function OwnRecords() {
  const { say } = useUi();
  const { answer, reload } = useFetched(apiPath`/account`);
  const body = bodyOf(answer);
  return (
    <>
      <section aria-labelledby="sessions-heading">
        <h3 id="sessions-heading" tabIndex={-1}>
          {say.tabs.sessions}
        </h3>
        {answer === undefined ? null : <AnswerAlert answer={answer} retry={reload} />}
        <OwnSessions sessions={objectsOf(body['sessions'])} reload={reload} />
      </section>
      <section aria-labelledby="grants-heading">
        <h3 id="grants-heading" tabIndex={-1}>
          {say.grantsOfUser}
        </h3>
        {answer?.kind === 'done' ? <OwnGrants grants={objectsOf(body['grants'])} reload={reload} /> : null}
      </section>
    </>
  );
}

function OwnSessions({ sessions, reload }: { readonly sessions: readonly JsonObject[]; readonly reload: () => void }) {
  const { say, language, notify } = useUi();
  const { isBusy, refusal, remove } = useRemoval('sessions-heading', () => {
    notify({ text: say.sessionsEnded(1) });
    reload();
  });
  return (
    <>
      {refusal === undefined ? null : <AnswerAlert answer={refusal} />}
      <ul>
        {sessions.map((session) => {
          const id = textOf(session, 'id');
          return (
            <li key={id}>
              <span id={`session-${id}`}>
                {referencedId(session, 'client')} · {textOf(session, 'remote_addr')} ·{' '}
                {timeText(textOf(session, 'created_at'), language)}
              </span>{' '}
              <BusyButton
                class="link"
                describedBy={`session-${id}`}
                isBusy={isBusy}
                // If it is the session of this page, the next request gets another one.
                onClick={() => void remove(apiPath`/account/sessions/${id}`)}
              >
                {say.endSession}
              </BusyButton>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function OwnGrants({ grants, reload }: { readonly grants: readonly JsonObject[]; readonly reload: () => void }) {
  const { say, notify } = useUi();
  const { isBusy, refusal, remove } = useRemoval('grants-heading', (client) => {
    notify({ text: say.deleted(client) });
    reload();
  });
  return (
    <>
      {refusal === undefined ? null : <AnswerAlert answer={refusal} />}
      {grants.length === 0 ? <p class="soft">{say.noGrants}</p> : null}
      <ul>
        {grants.map((grant) => {
          const client = referencedId(grant, 'client');
          return (
            <li key={client}>
              {client} · {textOf(grant, 'scope')}{' '}
              <BusyButton
                class="link"
                isBusy={isBusy}
                onClick={() => void remove(apiPath`/account/grants/${client}`, client)}
              >
                {say.takeBack(client)}
              </BusyButton>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/**
 * Returns the function that deletes one record of the user, and the state of its last call. `heading` is the ID of the
 * heading above the records.
 */
function useRemoval(heading: string, removed: (title: string) => void) {
  const { isBusy, refusal, send } = useChange();
  return {
    isBusy,
    refusal,
    remove: async (path: ApiPath, title = ''): Promise<void> => {
      const pressed = document.activeElement;
      if ((await send({ method: 'DELETE', path })) === undefined) return;
      removed(title);
      // The pressed button goes with its record.
      if (document.activeElement === pressed) document.getElementById(heading)?.focus();
    },
  };
}
