import { expect } from 'chai';
import { Compile } from 'typebox/compile';
import { isObject } from '../../../../crds/path.ts';
import { auditRecordSchema } from '../../../../api/audit/audit-record.ts';
import { eventually } from '../../../support/eventually.ts';
import { adminSecret, entries, stringIn } from '../box-api.ts';
import type { BoxApi, CallOptions, Reply, Shown } from '../box-api.ts';

/** Schema of a record of the audit trail. */
export const record = Compile(auditRecordSchema);

/** The audit trail of an API, as its admin reads it. */
export interface AuditRecords {
  /** Returns the records that a search finds, newest first. */
  found(query: string, box?: string): Promise<readonly Shown[]>;
  /** Waits for a record that is written in the background, and returns the newest one that a search finds. */
  written(query: string): Promise<Shown>;
  /** Makes a request that succeeds, and returns its records, oldest first. */
  change(method: string, path: string, options?: CallOptions): Promise<readonly Shown[]>;
}

/** Returns functions that read the audit trail of an API; each record that they find must fit the documented schema. */
export function auditRecords(api: BoxApi): AuditRecords {
  async function found(query: string, box = 'default'): Promise<readonly Shown[]> {
    const path = `${api.url}/boxes/${box}/AuditEvent?${query}`;
    const token =
      box === 'default' ? api.adminToken : stringIn(await api.requestToken('admin', adminSecret, box), 'access_token');
    const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    const body: unknown = await response.json();
    const records = entries({ status: response.status, headers: response.headers, text: '', body });
    for (const one of records) expect([...record.Errors(one)], JSON.stringify(one)).to.deep.equal([]);
    return records;
  }

  async function recordsOf({ headers }: Reply): Promise<readonly Shown[]> {
    const requestId = headers.get('x-request-id');
    const all = await found('_count=100');
    return all.filter(({ request_id }) => request_id === requestId).toReversed();
  }

  async function written(query: string): Promise<Shown> {
    let newest: Shown | undefined;
    await eventually(`there is a record of ${query}`, async () => {
      [newest] = await found(`${query}&_count=1`);
      return newest !== undefined;
    });
    return newest ?? {};
  }

  async function change(method: string, path: string, options: CallOptions = {}): Promise<readonly Shown[]> {
    const reply = await api.call(method, path, options);
    expect(reply.status, reply.text).to.be.lessThan(300);
    return recordsOf(reply);
  }

  return { found, written, change };
}

/** Returns the event of each record, the type of its target, and the fields that changed. */
export function eventsOf(records: readonly Shown[]) {
  return records.map(({ event, target, changed, member }) => {
    const names = [event, isObject(target) ? target['resourceType'] : undefined];
    return [...names, ...(Array.isArray(changed) ? [changed] : []), ...(isObject(member) ? ['member'] : [])];
  });
}

/** Returns the records that an API has written to its log. */
export function loggedRecords({ logLines }: BoxApi): readonly Shown[] {
  const lines = logLines.map((line): unknown => JSON.parse(line)).filter(isObject);
  return lines.map(({ audit }) => audit).filter(isObject);
}
