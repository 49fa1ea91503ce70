import type { NewestDefinition, NewestOfBox, NewestRow } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import type { GrantLetter } from './grant-letter.ts';
import type { SessionRecord } from './record.ts';
import type { SessionEnd } from './session.ts';

/** Search for sessions of a box, newest first, and the time of their status in milliseconds since 1970. */
export interface NewestSessionsOfBox extends NewestOfBox {
  readonly now: number;
}

/** A row of a session; times in milliseconds since 1970. */
interface Columns extends NewestRow {
  readonly id: string;
  readonly bucket: number;
  readonly type: GrantLetter;
  readonly client: string;
  readonly user_id: string | null;
  readonly scope: string | null;
  readonly audience: string[] | null;
  readonly expires_at: string;
  readonly family: string | null;
  readonly parent: string | null;
  readonly remote_addr: string | null;
  readonly user_agent: string | null;
  readonly ended_at: string | null;
  readonly ended_as: SessionEnd | null;
}

/** Sessions of a box, newest first. */
export const sessionsBefore: NewestDefinition<NewestSessionsOfBox, Columns, SessionRecord> = {
  reading: fixedText('SELECT * FROM boxgate.sessions_before($1,$2,$3,$4)'),
  rowOf: (row, { now }) => {
    const expiresAt = Number(row.expires_at);
    return {
      id: row.id,
      bucket: row.bucket,
      type: row.type,
      client: row.client,
      user: row.user_id === null ? undefined : Number(row.user_id),
      scope: row.scope ?? undefined,
      audience: row.audience ?? undefined,
      status: row.ended_as ?? (expiresAt <= now ? 'expired' : 'active'),
      expiresAt,
      endedAt: row.ended_at === null ? undefined : Number(row.ended_at),
      family: row.family ?? undefined,
      parent: row.parent ?? undefined,
      remoteAddr: row.remote_addr ?? undefined,
      userAgent: row.user_agent ?? undefined,
    };
  },
};
