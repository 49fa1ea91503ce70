import { isList, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { newClientText } from '../client/app-type.ts';
import { CLIENT_FIELDS, ClientForm } from '../client/client-form.tsx';
import { ClientOverview } from '../client/overview.tsx';
import { apiPath } from '../connection/api-path.ts';
import { objectsOf, referenceText, textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import type { Place } from '../place.ts';
import { POLICY_FIELDS, PolicyForm } from '../policy/policy-form.tsx';
import { CopyText } from '../record/copy.tsx';
import { JsonField, jsonFaults } from '../record/field.tsx';
import { draftValue, isJsonDraft, jsonDraft, withoutServiceFields } from '../record/json-draft.ts';
import type { JsonDraft } from '../record/json-draft.ts';
import { manifestOf } from '../record/manifest.ts';
import type { FieldsProps, RecordKind } from '../record/record-kind.ts';
import { PolicyQuestion } from './policy-question.tsx';
import type { Cell } from '../rows/row-source.ts';
import { useClientCells, usePolicyCells } from './last-use.ts';
import { RecordTab } from './record-tab.tsx';

const clientKind: RecordKind<JsonDraft> = {
  ...storedKind('Client', { id: '', grant_types: ['client_credentials'] }),
  source: {
    path: apiPath`/Client?_result=array&_count=1000&_elements=id,name,grant_types,active,created_at`,
    readsAll: true,
    columns: [
      { header: () => 'ID', cell: (record) => textOf(record, 'id') },
      { header: (say) => say.name, cell: (record) => textOf(record, 'name'), from: 'medium' },
      { header: (say) => say.grantTypes, cell: grantsOf, from: 'wide' },
      {
        header: (say) => say.status,
        cell: ({ active }, say) =>
          active === false ? { chip: say.inactive, tone: 'bad' } : { chip: say.active, tone: 'good' },
      },
      { header: (say) => say.created, cell: (record) => ({ time: textOf(record, 'created_at') }), from: 'wide' },
      { header: (say) => say.managedBy, cell: (): Cell => '', from: 'wide' },
      { header: (say) => say.previousUse, cell: (): Cell => '', from: 'record', isMore: true },
      { header: (say) => say.lastUse, cell: (): Cell => '', isMore: true },
    ],
    useMore: useClientCells,
  },
  body: (draft, record) => (record === undefined ? newClientText(draft) : draft.json),
  fields: CLIENT_FIELDS,
  Fields: (props) => <StoredFields {...props} kind="Client" Form={ClientForm} />,
  views: ['form', 'json', 'yaml'],
  Overview: ClientOverview,
  created: (body, record, { secrets }) => {
    const { secret } = draftValue({ json: body }) ?? {};
    if (typeof secret === 'string') secrets.set(textOf(record, 'id'), secret);
  },
  // A deleted secret cannot be restored.
  restore: () => undefined,
};

const policyKind: RecordKind<JsonDraft> = {
  ...storedKind('AccessPolicy', { id: '', engine: 'allow' }),
  source: {
    path: apiPath`/AccessPolicy?_result=array&_count=1000&_elements=id,engine,subjects,link`,
    readsAll: true,
    columns: [
      { header: () => 'ID', cell: (record) => textOf(record, 'id') },
      {
        header: (say) => say.engine,
        cell: (record) => ({ chip: textOf(record, 'engine'), tone: 'plain' }),
        from: 'medium',
      },
      { header: (say) => say.who, cell: subjectsOf, from: 'wide' },
      { header: (say) => say.lastUse, cell: (): Cell => '', isMore: true },
    ],
    useMore: usePolicyCells,
  },
  body: ({ json }) => json,
  fields: POLICY_FIELDS,
  Fields: (props) => <StoredFields {...props} kind="AccessPolicy" Form={PolicyForm} />,
  views: ['form', 'json', 'yaml'],
  Below: PolicyQuestion,
  restore: (record) => ({
    method: 'POST',
    path: apiPath`/AccessPolicy`,
    body: JSON.stringify(withoutServiceFields(record)),
  }),
};

function grantsOf({ grant_types: grants }: JsonObject): string {
  return isList(grants) ? grants.map(String).join(', ') : '';
}

/** Returns whom a policy concerns: the records that it links, or all callers of a kind. */
function subjectsOf(record: JsonObject): string {
  return objectsOf(record['link']).map(referenceText).join(', ') || textOf(record, 'subjects');
}

function storedKind(resource: 'Client' | 'AccessPolicy', example: JsonObject) {
  return {
    resource,
    path: apiPath`/${resource}`,
    empty: jsonDraft(example),
    isDraft: isJsonDraft,
    read: (record: JsonObject) => jsonDraft(withoutServiceFields(record)),
    check: ({ json }: JsonDraft, say: Messages) => jsonFaults('json', json, say),
    show: ({ json }: JsonDraft) => [{ label: 'JSON', text: normal(json) }],
  } as const;
}

function normal(json: string): string {
  const value = parseJson(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}

/** The form of a client or policy, its JSON, or its manifest: three views of one text. */
function StoredFields(
  props: FieldsProps<JsonDraft> & {
    readonly kind: 'Client' | 'AccessPolicy';
    readonly Form: typeof ClientForm;
  },
) {
  const { draft, change, faults, readOnly, isNew, view, kind, Form } = props;
  const { say, box } = useUi();
  const value = draftValue(draft);
  if (view === 'json') {
    return (
      <JsonField
        id="json"
        label="JSON"
        rows={18}
        value={draft.json}
        set={(json) => change({ json })}
        faults={faults['json']}
        readOnly={readOnly}
      />
    );
  }
  if (value === undefined) return <p class="alert">{say.fixJson}</p>;
  if (view === 'yaml') {
    return (
      <CopyText label={say.views.yaml} text={manifestOf(kind, box, value)}>
        <p class="hint">{readOnly ? '' : say.manifestHint}</p>
      </CopyText>
    );
  }
  return (
    <Form value={value} change={(next) => change(jsonDraft(next))} faults={faults} readOnly={readOnly} isNew={isNew} />
  );
}

/** The tab with the clients of the box. */
export function Clients({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return <RecordTab kind={clientKind} place={place} newTitle={say.newClient} empty={say.noClientsYet} />;
}

/** The tab with the access policies of the box, and a form that asks them. */
export function Policies({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return (
    <RecordTab
      kind={policyKind}
      place={place}
      newTitle={say.newPolicy}
      empty={say.noPoliciesYet}
      otherwise={<PolicyQuestion />}
    />
  );
}
