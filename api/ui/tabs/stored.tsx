import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { COLUMNS } from '../../schemas/columns.ts';
import { apiPath } from '../connection/api-path.ts';
import { useUi } from '../context.ts';
import { jsonFaults } from '../json/json-faults.ts';
import type { Messages } from '../messages/messages.ts';
import type { Place } from '../place.ts';
import { JsonField } from '../record/field.tsx';
import type { FieldsProps, RecordKind } from '../record/record-kind.ts';
import { PolicyQuestion } from './policy-question.tsx';
import { rowIn } from '../rows/row-source.ts';
import { RecordTab } from './record-tab.tsx';

/** A client or policy as its form shows it: JSON. */
interface StoredDraft {
  readonly json: string;
}

const clientKind: RecordKind<StoredDraft> = {
  ...storedKind('Client', { id: '', grant_types: ['client_credentials'], secret: '' }),
  source: {
    path: apiPath`/Client?_result=array&_count=1000&_elements=id,name,grant_types`,
    readsAll: true,
    rowOf: (record) => rowIn(COLUMNS.Client, record),
  },
  // A deleted secret cannot be restored.
  restore: () => undefined,
};

const policyKind: RecordKind<StoredDraft> = {
  ...storedKind('AccessPolicy', { id: '', engine: 'allow', link: [{ resourceType: 'Client', id: '' }] }),
  source: {
    path: apiPath`/AccessPolicy?_result=array&_count=1000&_elements=id,engine,subjects,link`,
    readsAll: true,
    rowOf: (record) => rowIn(COLUMNS.AccessPolicy, record),
  },
  restore: (record) => ({
    method: 'POST',
    path: apiPath`/AccessPolicy`,
    body: JSON.stringify(withoutServiceFields(record)),
  }),
};

function storedKind(resource: 'Client' | 'AccessPolicy', example: object) {
  return {
    resource,
    path: apiPath`/${resource}`,
    empty: { json: JSON.stringify(example, null, 2) },
    isDraft: (value: unknown): value is StoredDraft => isObject(value) && typeof value['json'] === 'string',
    read: (record: JsonObject): StoredDraft => ({ json: JSON.stringify(withoutServiceFields(record), null, 2) }),
    // As it was typed: the API reports what a parser would hide, such as a name that is there twice.
    body: ({ json }: StoredDraft) => json,
    check: ({ json }: StoredDraft, say: Messages) => jsonFaults('json', json, say),
    fields: ['json'],
    Fields: StoredFields,
    show: ({ json }: StoredDraft) => [{ label: 'JSON', text: normal(json) }],
  } as const;
}

function normal(json: string): string {
  const value = parseJson(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}

function withoutServiceFields(record: JsonObject): JsonObject {
  const { resourceType: _type, created_at: _time, warnings: _warnings, ...fields } = record;
  return fields;
}

function StoredFields({ draft, change, faults, readOnly }: FieldsProps<StoredDraft>) {
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

/** The tab with the clients of the box. */
export function Clients({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return <RecordTab kind={clientKind} place={place} title={say.tabs.clients} newTitle={say.newClient} />;
}

/** The tab with the access policies of the box, and a form that asks them. */
export function Policies({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return (
    <RecordTab
      kind={policyKind}
      place={place}
      title={say.tabs.policies}
      newTitle={say.newPolicy}
      otherwise={<PolicyQuestion />}
    />
  );
}
