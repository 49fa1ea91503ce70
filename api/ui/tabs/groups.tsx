import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { apiPath } from '../connection/api-path.ts';
import { textOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Place } from '../place.ts';
import { TextField } from '../record/field.tsx';
import type { FieldsProps, RecordKind } from '../record/record-kind.ts';
import type { RowSource } from '../rows/row-source.ts';
import { GroupMembers } from './group-members.tsx';
import { RecordTab } from './record-tab.tsx';

/** A group as its form shows it. */
interface GroupDraft {
  readonly name: string;
  readonly description: string;
}

/** All groups of the box, with their numbers. */
export const groupSource: RowSource = {
  path: apiPath`/Group?_result=array&_sort=name&_count=1000`,
  readsAll: true,
  columns: [
    { header: (say) => say.name, cell: (record) => textOf(record, 'name') },
    { header: (say) => say.members, cell: (record) => textOf(record, 'members') },
    { header: (say) => say.description, cell: (record) => textOf(record, 'description'), from: 'medium' },
    { header: () => 'ID', cell: (record) => textOf(record, 'id'), from: 'wide' },
    { header: (say) => say.created, cell: (record) => ({ time: textOf(record, 'created_at') }), from: 'wide' },
  ],
};

/** Groups: created with Name and Description. */
const groupKind: RecordKind<GroupDraft> = {
  resource: 'Group',
  path: apiPath`/Group`,
  source: groupSource,
  empty: { name: '', description: '' },
  isDraft: (value): value is GroupDraft => isObject(value) && typeof value['description'] === 'string',
  read: (record) => ({ name: textOf(record, 'name'), description: textOf(record, 'description') }),
  body: ({ name, description }) => JSON.stringify({ name, description: description === '' ? null : description }),
  fields: ['name', 'description'],
  Fields: GroupFields,
  Below: GroupMembers,
  show: ({ name, description }, say) => [
    { label: say.name, text: name },
    { label: say.description, text: description },
  ],
  restore: (record) => (record['members'] === 0 ? restoring(record) : undefined),
};

/** A group without members is created again: it gets a new number. Members would have to be added one by one. */
function restoring({ name, description }: JsonObject) {
  return { method: 'POST', path: apiPath`/Group`, body: JSON.stringify({ name, description }) } as const;
}

function GroupFields({ draft, change, faults, readOnly }: FieldsProps<GroupDraft>) {
  const { say } = useUi();
  return (
    <>
      <TextField
        id="name"
        label={say.name}
        value={draft.name}
        set={(name) => change({ ...draft, name })}
        faults={faults['name']}
        readOnly={readOnly}
        required
      />
      <TextField
        id="description"
        label={say.description}
        value={draft.description}
        set={(description) => change({ ...draft, description })}
        faults={faults['description']}
        readOnly={readOnly}
      />
    </>
  );
}

/** The tab with the groups of the box. */
export function Groups({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return <RecordTab kind={groupKind} place={place} newTitle={say.newGroup} empty={say.noGroupsYet} />;
}
