import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import { objectsOf, textOf } from '../connection/members.ts';
import type { RowSource } from '../rows/row-source.ts';

const LIST = apiPath`/users?_count=100`;

/** The users of the box. */
export const userSource: RowSource = {
  path: LIST,
  columns: [
    { header: (say) => say.email, cell: (record) => textOf(record, 'email') },
    { header: (say) => say.name, cell: nameIn, from: 'wide' },
    { header: (say) => say.tabs.groups, cell: groupsOf, from: 'medium' },
    {
      header: (say) => say.status,
      cell: (record, say) =>
        textOf(record, 'status') === 'inactive'
          ? { chip: say.inactive, tone: 'bad' }
          : { chip: say.active, tone: 'good' },
    },
    { header: (say) => say.created, cell: (record) => ({ time: textOf(record, 'created_at') }), from: 'medium' },
    { header: () => 'ID', cell: (record) => textOf(record, 'id'), from: 'wide' },
  ],
  readsAll: false,
  find: (text) => searchPath(LIST, 'q', text),
};

/** Returns the name in Data, where apps keep it. */
function nameIn(record: JsonObject): string {
  const data = parseJson(textOf(record, 'data'));
  return isObject(data) ? textOf(data, 'name') : '';
}

function groupsOf(record: JsonObject): string {
  return objectsOf(record['groups'])
    .map((group) => textOf(group, 'name'))
    .join(', ');
}
