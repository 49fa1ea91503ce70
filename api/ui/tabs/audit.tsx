import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import { referencedId, referenceText, textOf, timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Place } from '../place.ts';
import type { Cell, RowSource } from '../rows/row-source.ts';
import { Detail, Facts, ReadTab } from './detail.tsx';
import { useEmails } from './user-names.ts';

const LIST = apiPath`/AuditEvent?_result=array&_count=100`;

/** The records of the audit trail, newest first. */
const auditSource: RowSource = {
  path: LIST,
  readsAll: false,
  useMore: useEmails,
  columns: [
    { header: (say) => say.event, cell: (record) => textOf(record, 'event') },
    { header: (say) => say.time, cell: (record) => ({ time: textOf(record, 'created_at') }), sort: 'created_at' },
    { header: (say) => say.actor, cell: whoIn, from: 'medium' },
    { header: (say) => say.target, cell: ({ target }) => referenceText(target), from: 'wide' },
    { header: (say) => say.result, cell: resultOf, from: 'medium' },
  ],
  userOf: ({ actor }) => {
    const id = isObject(actor) ? referencedId(actor, 'user') : '';
    return id === '' ? undefined : { id, column: 2 };
  },
  sorted: { column: 1, isDescending: true },
  findByUser: (user) => searchPath(LIST, 'user', String(user)),
  find: (text) => {
    const filter = filterOf(text);
    return filter === undefined ? undefined : searchPath(LIST, filter, text);
  },
};

function resultOf(record: JsonObject): Cell {
  const chip = textOf(record, 'result');
  return { chip, tone: chip === 'success' ? 'good' : 'bad' };
}

/** Returns the filter that a text is meant for, by its form; a text without one is searched in what was read. */
export function filterOf(text: string): string | undefined {
  if (/^\d{1,15}$/.test(text)) return 'user';
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return 'created_at';
  if (/^[A-Za-z]+\/\S+$/.test(text)) return 'target';
  if (/^[a-z_]+\.[a-z_]+$/.test(text)) return 'event';
  if (/^[0-9a-f:.]*[:.][0-9a-f:.]*$/i.test(text)) return 'remote_addr';
  return undefined;
}

/** Names the user, client or operator that acted. */
function whoIn(record: JsonObject): string {
  return actorOf(record).split(' ')[0] ?? '';
}

/** Names who acted: user, client or operator, and the address. */
export function actorOf({ actor }: JsonObject): string {
  if (!isObject(actor)) return '';
  const [user, client] = [referencedId(actor, 'user'), referencedId(actor, 'client')];
  return [user && `User/${user}`, client && `Client/${client}`, textOf(actor, 'operator'), textOf(actor, 'remote_addr')]
    .filter(Boolean)
    .join(' ');
}

/** The tab with the audit trail of the box. */
export function Audit({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return (
    <ReadTab place={place} source={auditSource} empty={say.noEventsYet}>
      {(id) => <AuditDetail key={id} id={id} />}
    </ReadTab>
  );
}

function AuditDetail({ id }: { readonly id: string }) {
  const { say, language } = useUi();
  const heading = (record: JsonObject | undefined): string =>
    record === undefined ? say.tabs.audit : textOf(record, 'event');
  return (
    <Detail tab="audit" path={apiPath`/AuditEvent/${id}`} heading={heading}>
      {(record) => (
        <Facts
          facts={[
            [say.time, timeText(textOf(record, 'created_at'), language)],
            [say.result, textOf(record, 'result')],
            [say.actor, actorOf(record)],
            [say.target, referenceText(record['target'])],
            [say.member, referenceText(record['member'])],
            [say.changed, Array.isArray(record['changed']) ? record['changed'].map(String).join(', ') : ''],
            [say.count, textOf(record, 'count')],
            [say.session, textOf(record, 'session')],
            [say.requestId, textOf(record, 'request_id')],
            ['ID', id],
          ]}
        />
      )}
    </Detail>
  );
}
