import { expect } from 'chai';
import type { AuditTrail } from '../../api/audit/audit-trail.ts';
import { inBoxRecorded } from '../../api/audit/recorded.ts';
import { makeWorld } from '../oauth/world.ts';
import type { World } from '../oauth/world.ts';

describe('a recorded transaction', () => {
  let world: World;
  const logged: string[] = [];
  const trail: AuditTrail = {
    origin: { client: 'admin', remoteAddr: '192.0.2.1', requestId: 'r-1' },
    now: Date.now,
    log: (_box, records) => logged.push(...records.map(({ target = '' }) => target)),
  };

  before(async () => {
    world = await makeWorld();
    await world.declare('shop', { kind: 'AccessPolicy', id: 'any', engine: 'allow' });
  });
  after(() => world.end());

  const stored = async (target: string): Promise<readonly unknown[]> => {
    const columns = 'event, client, remote_addr, request_id, count';
    const statement = `SELECT ${columns} FROM boxgate.audit_event WHERE box = 'shop' AND target = $1 ORDER BY id`;
    return (await world.owner.query<Record<string, unknown>>(statement, [target])).rows;
  };

  it('stores the events that its work notes, with their origin, and then logs them', async () => {
    const services = { pool: world.services.pool, trail };
    const result = await inBoxRecorded(services, 'shop', (_connection, note) => {
      note({ event: 'group.created', target: 'Group/1' });
      note({ event: 'group.changed', target: 'Group/1', changed: ['name'] });
      expect(logged).to.deep.equal([]);
      return Promise.resolve('done');
    });
    expect(result).to.equal('done');
    const origin = { client: 'admin', remote_addr: '192.0.2.1', request_id: 'r-1', count: 1 };
    expect(await stored('Group/1')).to.deep.equal([
      { event: 'group.created', ...origin },
      { event: 'group.changed', ...origin },
    ]);
    expect(logged).to.deep.equal(['Group/1', 'Group/1']);
  });

  it('leaves neither a record nor a line of the log when its work fails after an event', async () => {
    const services = { pool: world.services.pool, trail };
    const failed = await inBoxRecorded(services, 'shop', (_connection, note) => {
      note({ event: 'group.deleted', target: 'Group/2' });
      return Promise.reject(new Error('too late'));
    }).catch(String);
    expect(failed).to.equal('Error: too late');
    expect(await stored('Group/2')).to.deep.equal([]);
    expect(logged).not.to.include('Group/2');
  });

  it('stores no record for another box than its own', async () => {
    await world.declare('other', { kind: 'AccessPolicy', id: 'any', engine: 'allow' });
    const services = { pool: world.services.pool, trail };
    await inBoxRecorded(services, 'other', (_connection, note) => {
      note({ event: 'group.created', target: 'Group/3' });
      return Promise.resolve();
    });
    expect(await stored('Group/3')).to.deep.equal([]);
  });
});
