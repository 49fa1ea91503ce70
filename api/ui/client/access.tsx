import { useState } from 'preact/hooks';
import { BusyButton } from '../bars.tsx';
import type { Faults } from '../connection/answer.ts';
import { faultsIn, otherFaults } from '../connection/answer.ts';
import { apiPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { fragmentOf } from '../place.ts';
import { Hindered } from '../record/answer-alert.tsx';
import { Cards } from '../record/cards.tsx';
import { TextField } from '../record/field.tsx';
import { useChange, useFetched } from '../tabs/use-fetched.ts';
import { COMMON_POLICIES, RECORD_PATHS, commonPolicy } from '../policy/policy-templates.ts';
import type { PolicyRequest } from '../policy/policy-templates.ts';

/** The policies of a client, and a form for one of the common ones. */
export function ClientAccess({ client, needsIt }: { readonly client: string; readonly needsIt: boolean }) {
  const { say } = useUi();
  const path = apiPath`/AccessPolicy?_result=array&_count=100&_total=none&link=${`Client/${client}`}`;
  const { answer, reload } = useFetched(path);
  const policies = answer?.kind === 'done' ? objectsOf(answer.body) : [];
  const isEmpty = answer?.kind === 'done' && policies.length === 0;
  return (
    <section class={isEmpty && needsIt ? 'panel attention' : 'panel'} aria-labelledby="access">
      <h3 id="access">{say.access}</h3>
      {answer === undefined ? (
        <p class="soft">{say.loading}</p>
      ) : (
        <Hindered answer={answer} method="GET" path={path} retry={reload} />
      )}
      {policies.length === 0 ? null : (
        <ul class="policies">
          {policies.map((policy) => (
            <li key={textOf(policy, 'id')}>
              <a href={fragmentOf('policies', textOf(policy, 'id'))}>{textOf(policy, 'id')}</a>{' '}
              <span class="soft">
                {textOf(policy, 'description') || textOf(policy, 'expression') || textOf(policy, 'engine')}
              </span>
            </li>
          ))}
        </ul>
      )}
      {isEmpty ? <p>{needsIt ? say.noAccess : say.noPolicyNeeded}</p> : null}
      {answer?.kind !== 'done' ? null : isEmpty && needsIt ? (
        <GivePolicy client={client} given={reload} />
      ) : (
        <details>
          <summary>{say.addAccess}</summary>
          <GivePolicy key={policies.length} client={client} given={reload} />
        </details>
      )}
    </section>
  );
}

/** A form for the common policies. */
function GivePolicy({ client, given }: { readonly client: string; readonly given: () => void }) {
  const { say, notify } = useUi();
  const { isBusy, refusal, send } = useChange();
  const [wanted, setWanted] = useState<PolicyRequest>({ sort: 'read', record: 'users', app: '', path: '/' });
  const faults: Faults = refusal?.kind === 'refused' && refusal.status !== 403 ? faultsIn(refusal.body) : {};
  const others = otherFaults(faults, ['apps']);
  const give = async (): Promise<void> => {
    const policy = commonPolicy(client, wanted);
    const answer = await send({ method: 'POST', path: apiPath`/AccessPolicy`, body: JSON.stringify(policy) });
    if (answer === undefined) return;
    notify({ text: say.saved(policy.id) });
    given();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void give();
      }}
    >
      {refusal === undefined || Object.keys(faults).length > 0 ? null : (
        <Hindered answer={refusal} method="POST" path="/AccessPolicy" />
      )}
      {others.length === 0 ? null : (
        <p class="alert" role="alert">
          {others.join(' ')}
        </p>
      )}
      <Cards
        name="policy-templates"
        legend={say.whatToGrant}
        options={COMMON_POLICIES.map((value) => ({ value, ...say.commonPolicies[value] }))}
        chosen={wanted.sort}
        choose={(sort) => setWanted({ ...wanted, sort })}
      />
      {wanted.sort === 'read' ? (
        <>
          <label for="record-kind">{say.kindOfRecord}</label>
          <select
            id="record-kind"
            value={wanted.record}
            onChange={(event) => setWanted({ ...wanted, record: event.currentTarget.value })}
          >
            {RECORD_PATHS.map((path) => (
              <option key={path} value={path}>
                /{path}
              </option>
            ))}
          </select>
        </>
      ) : null}
      {wanted.sort === 'paths' ? (
        <>
          <TextField
            id="policy-app"
            label={say.app}
            value={wanted.app}
            set={(app) => setWanted({ ...wanted, app })}
            faults={faults['apps[0]'] ?? faults['apps']}
            required
          />
          <TextField
            id="policy-path"
            label={say.pathPrefix}
            value={wanted.path}
            set={(path) => setWanted({ ...wanted, path })}
          />
        </>
      ) : null}
      <div class="actions">
        <BusyButton isBusy={isBusy}>{say.giveAccess}</BusyButton>
        <a href={fragmentOf('policies', '+')}>{say.ownPolicy}</a>
      </div>
    </form>
  );
}
