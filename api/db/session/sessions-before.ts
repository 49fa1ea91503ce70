import type { CountedRow } from '../core/counted-pages.ts';
import type { NewestDefinition, NewestOfBox } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import { sessionRecordAt } from './record.ts';
import type { EndedColumns, SessionRecord } from './record.ts';

/** Search for sessions of a box, newest first, and the time of their status in milliseconds since 1970. */
export interface NewestSessionsOfBox extends NewestOfBox {
  readonly now: number;
}

/** A row of a session; times in milliseconds since 1970. */
type Columns = CountedRow &
  Omit<EndedColumns, 'expires_at' | 'ended_at'> & {
    readonly expires_at: string;
    readonly ended_at: string | null;
  };

/** Sessions of a box, newest first. */
export const sessionsBefore: NewestDefinition<NewestSessionsOfBox, Columns, SessionRecord> = {
  reading: fixedText('SELECT * FROM boxgate.session_pages($1,$2,$3,$4) ORDER BY nth, id DESC'),
  rowOf: ({ expires_at: expires, ended_at: ended, ...row }, { now }) => {
    const times = { expires_at: timeOf(expires), ended_at: ended === null ? null : timeOf(ended) };
    return sessionRecordAt({ ...row, ...times }, now);
  },
};

function timeOf(milliseconds: string): Date {
  return new Date(Number(milliseconds));
}
