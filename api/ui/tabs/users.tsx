import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { BusyButton } from '../bars.tsx';
import { apiPath } from '../connection/api-path.ts';
import { numbersOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Place } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { TextField, JsonField, OldPassword, jsonFaults } from '../record/field.tsx';
import { loadedFrom } from '../record/loaded.ts';
import type { BelowProps, FieldsProps, RecordKind } from '../record/record-kind.ts';
import { GroupChoice } from './group-choice.tsx';
import { RecordTab } from './record-tab.tsx';
import { useChange } from './use-fetched.ts';
import { userSource } from './user-source.ts';

/** A user as the form shows them. */
interface UserDraft {
  readonly email: string;
  /** Typed only: a password is never shown. */
  readonly password: string;
  readonly oldPassword: string;
  readonly data: string;
  readonly status: string;
  readonly groups: readonly number[];
}

/** Users: created with email, password, data and groups. */
const userKind: RecordKind<UserDraft> = {
  resource: '',
  path: apiPath`/users`,
  source: userSource,
  empty: { email: '', password: '', oldPassword: '', data: '', status: 'active', groups: [] },
  isDraft: (value): value is UserDraft => isObject(value) && typeof value['oldPassword'] === 'string',
  read: (record) => ({
    email: textOf(record, 'email'),
    password: '',
    oldPassword: '',
    data: textOf(record, 'data'),
    status: textOf(record, 'status') || 'active',
    groups: numbersOf(record['group-ids']),
  }),
  body: (draft, record) => JSON.stringify(record === undefined ? newUser(draft) : changedUser(draft, record)),
  check: ({ data }, say) => jsonFaults('data', data, say, true),
  fields: ['email', 'password', 'old_password', 'data', 'group-ids', 'status'],
  Fields: UserFields,
  Below: SignOut,
  show: ({ email, data, status, groups }, say) => [
    { label: say.email, text: email },
    { label: say.data, text: data },
    { label: say.status, text: status === 'inactive' ? say.inactive : say.active },
    { label: say.groupIds, text: groups.join('\n') },
  ],
  // A password cannot be restored.
  restore: () => undefined,
};

function newUser({ email, password, data, status, groups }: UserDraft): object {
  const more = status === 'active' ? {} : { status };
  return { email, password, data: data.trim() === '' ? null : data, 'group-ids': groups, ...more };
}

/** Returns the changed fields only: a policy may allow some of them. */
function changedUser(draft: UserDraft, record: JsonObject): object {
  const { email, password, oldPassword, data, status, groups } = draft;
  const stored = userKind.read(record);
  const isSameGroups = JSON.stringify(groups.toSorted()) === JSON.stringify(stored.groups.toSorted());
  return {
    ...(email !== stored.email && { email }),
    ...(password !== '' && { password }),
    ...(oldPassword !== '' && { old_password: oldPassword }),
    ...(data !== stored.data && { data: data.trim() === '' ? null : data }),
    ...(status !== stored.status && { status }),
    ...(!isSameGroups && { 'group-ids': groups }),
  };
}

function UserFields({ draft, change, faults, isNew }: FieldsProps<UserDraft>) {
  const { say } = useUi();
  const set = (some: Partial<UserDraft>): void => {
    change({ ...draft, ...some });
  };
  return (
    <>
      <TextField
        id="email"
        label={say.email}
        type="email"
        value={draft.email}
        set={(email) => set({ email })}
        faults={faults['email']}
        required
      />
      <TextField
        id="password"
        label={say.password}
        type="password"
        autocomplete="new-password"
        value={draft.password}
        set={(password) => set({ password })}
        faults={faults['password']}
        required={isNew}
        {...(!isNew && { hint: say.passwordStays })}
      />
      <OldPassword
        value={draft.oldPassword}
        set={(oldPassword) => set({ oldPassword })}
        faults={faults['old_password']}
      />
      <JsonField
        id="data"
        label={say.data}
        value={draft.data}
        set={(data) => set({ data })}
        faults={faults['data']}
        optional
      />
      <GroupChoice chosen={draft.groups} choose={(groups) => set({ groups })} faults={faults['group-ids']} />
      <label for="status">{say.status}</label>
      <select id="status" value={draft.status} onChange={(event) => set({ status: event.currentTarget.value })}>
        <option value="active">{say.active}</option>
        <option value="inactive">{say.inactive}</option>
      </select>
    </>
  );
}

/** Signs a user out of every browser and app. */
function SignOut({ record, replace }: BelowProps) {
  const { say, notify } = useUi();
  const { isBusy, refusal, send } = useChange();
  const path = apiPath`/users/${textOf(record, 'id')}`;
  const signOut = async (): Promise<void> => {
    const answer = await send({ method: 'PUT', path, body: JSON.stringify({ end_sessions: true }) });
    const stored = answer && loadedFrom(answer);
    if (stored === undefined) return;
    replace(stored);
    notify({ text: say.signedOutEverywhere(textOf(record, 'email')) });
  };
  return (
    <>
      {refusal === undefined ? null : <Hindered answer={refusal} method="PUT" path={path} />}
      <p class="hint" id="sign-out-hint">
        {say.signOutHint}
      </p>
      <BusyButton class="second danger" isBusy={isBusy} describedBy="sign-out-hint" onClick={() => void signOut()}>
        {say.signOutEverywhere}
      </BusyButton>
    </>
  );
}

/** The tab with the users of the box. */
export function Users({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return <RecordTab kind={userKind} place={place} newTitle={say.newUser} empty={say.noUsersYet} />;
}
