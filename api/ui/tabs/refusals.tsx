import type { ComponentChildren } from 'preact';
import type { JsonObject } from '../../../crds/path.ts';
import { isRefusalReason } from '../../schemas/refusals.ts';
import { apiPath, searchPath } from '../connection/api-path.ts';
import { referenceText, textOf, timeText } from '../connection/members.ts';
import { useUi } from '../context.ts';
import type { Messages } from '../messages/messages.ts';
import { fragmentOf } from '../place.ts';
import type { Place } from '../place.ts';
import type { RowSource } from '../rows/row-source.ts';
import { actorOf, filterOf } from './audit.tsx';
import { Detail, Facts, ReadTab } from './detail.tsx';

const LIST = apiPath`/AuditEvent?_result=array&result=refused&_count=100`;

/** The refusals of the audit trail, newest first. */
const refusalSource: RowSource = {
  path: LIST,
  readsAll: false,
  columns: [
    { header: (say) => say.wrong, cell: wrongIn },
    { header: (say) => say.time, cell: (record) => ({ time: textOf(record, 'created_at') }), sort: 'created_at' },
    { header: (say) => say.about, cell: aboutOf, from: 'medium' },
    { header: (say) => say.sent, cell: (record) => textOf(record, 'sent'), from: 'wide' },
  ],
  sorted: { column: 1, isDescending: true },
  findByUser: (user) => searchPath(LIST, 'user', String(user)),
  find: (text) => {
    const filter = isRefusalReason(text)
      ? 'reason'
      : /^[0-9a-f]{12}-[0-9a-z]+$/.test(text)
        ? 'request_id'
        : filterOf(text);
    return filter === undefined ? undefined : searchPath(LIST, filter, text);
  },
};

/** Returns what is wrong with a refused request; of an event without a reason, its name. */
function wrongIn(record: JsonObject, say: Messages): string {
  const { reason } = record;
  return isRefusalReason(reason) ? plain(say.reasons[reason].wrong) : textOf(record, 'event');
}

/** Returns a sentence of the reference as the console shows it: a capital, and no signs of Markdown. */
function plain(sentence: string): string {
  const text = sentence.replaceAll('`', '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Names the record that a refusal is about, otherwise who sent the request. */
function aboutOf(record: JsonObject): string {
  return referenceText(record['target']) || actorOf(record);
}

/** The tab with the refusals of the box. */
export function Refusals({ place }: { readonly place: Place }) {
  const { say } = useUi();
  return (
    <ReadTab place={place} source={refusalSource} empty={say.noRefusals}>
      {(id) => <RefusalDetail key={id} id={id} />}
    </ReadTab>
  );
}

function RefusalDetail({ id }: { readonly id: string }) {
  const { say, language } = useUi();
  const heading = (record: JsonObject | undefined): string =>
    record === undefined ? say.tabs.refusals : wrongIn(record, say);
  return (
    <Detail tab="refusals" path={apiPath`/AuditEvent/${id}`} heading={heading}>
      {(record) => {
        const { reason } = record;
        return (
          <Facts
            facts={[
              [say.toDo, isRefusalReason(reason) ? plain(say.reasons[reason].fix) : ''],
              [say.sent, textOf(record, 'sent')],
              [say.about, linked(referenceText(record['target']))],
              [say.actor, actorOf(record)],
              [say.time, timeText(textOf(record, 'created_at'), language)],
              [say.reason, textOf(record, 'reason')],
              [say.count, textOf(record, 'count')],
              [say.requestId, textOf(record, 'request_id')],
            ]}
          />
        );
      }}
    </Detail>
  );
}

/** Tabs with the records that a refusal can be about. */
const tabs = new Map([
  ['Client', 'clients'],
  ['User', 'users'],
  ['Group', 'groups'],
  ['AccessPolicy', 'policies'],
] as const);

/** Shows a reference, with a link to its record if a tab has it. */
function linked(reference: string): ComponentChildren {
  const [kind, id] = reference.split('/');
  const tab = [...tabs].find(([name]) => name === kind)?.[1];
  return tab === undefined || id === undefined ? reference : <a href={fragmentOf(tab, id)}>{reference}</a>;
}
