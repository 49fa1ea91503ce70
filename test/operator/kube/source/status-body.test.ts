import { expect } from 'chai';
import type { ClientUsage } from '../../../../api/client/desired-state.ts';
import { statusAfter, statusToWrite } from '../../../../operator/kube/source/status-body.ts';
import type { Condition, ObjectStatus } from '../../../../operator/status/object-status.ts';

const [then, now] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];

function ready(fields: Partial<Condition> = {}): Condition {
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: now,
    ...fields,
  };
}

function status(fields: Partial<ObjectStatus> = {}): ObjectStatus {
  return {
    kind: 'Client',
    namespace: 'shop',
    name: 'app',
    uid: 'u',
    place: '',
    observedGeneration: 1,
    conditions: [ready()],
    columns: {
      kind: 'Client',
      id: 'app',
      grants: 'implicit',
      secret: '',
      secretName: '',
      issuer: '',
      inClusterTokenUrl: '',
      policies: 0,
      serviceAccounts: [],
      usage: undefined,
    },
    faults: [],
    ...fields,
  };
}

/** Status in the cluster that was written at another time. */
const there = {
  observedGeneration: 1,
  id: 'app',
  grants: 'implicit',
  policies: 0,
  conditions: [ready({ lastTransitionTime: then })],
};

describe('statusToWrite', () => {
  it('is the whole status where there is none yet, without what is empty', () => {
    const written = statusToWrite(status(), { observedGeneration: -1 });
    expect(JSON.parse(JSON.stringify(written))).to.deep.equal({ ...there, conditions: [ready()] });
  });

  const nothing: Record<string, unknown> = {
    'the same, written at another time': there,
    'a usage that nobody has asked since': { ...there, sessions: 3, lastTokenAt: then },
    'fields of others': { ...there, 'of somebody': 3 },
    'conditions of others': {
      ...there,
      conditions: [...there.conditions, { type: 'example.com/Checked', status: 'True' }],
    },
  };
  for (const [what, live] of Object.entries(nothing)) {
    it(`is nothing over ${what}`, () => {
      expect(statusToWrite(status(), live)).to.equal(undefined);
    });
  }

  const differing: Record<string, unknown> = {
    'another generation': { ...there, observedGeneration: 0 },
    'another column': { ...there, policies: 1 },
    'a column that is empty now': { ...there, secretName: 'app' },
    'another message': { ...there, conditions: [ready({ message: 'x', lastTransitionTime: then })] },
    'a condition too many': { ...there, conditions: [...there.conditions, { ...ready(), type: 'Conflict' }] },
  };
  for (const [what, live] of Object.entries(differing)) {
    it(`is written over ${what}, with the time of what did not flip`, () => {
      expect(statusToWrite(status(), live)?.conditions).to.deep.equal([ready({ lastTransitionTime: then })]);
    });
  }

  it('has the time of now for a condition that flipped', () => {
    const flipped = status({ conditions: [ready({ status: 'False', reason: 'Rejected' })] });
    expect(statusToWrite(flipped, there)?.conditions[0]?.lastTransitionTime).to.equal(now);
  });

  it('says how much a client is used, and keeps the last token when its session is gone', () => {
    const { columns } = status();
    if (columns.kind !== 'Client') throw new Error('of another kind');
    const used = (usage: ClientUsage) =>
      statusToWrite(status({ columns: { ...columns, usage } }), { lastTokenAt: then });
    expect(used({ id: 'app', live_sessions: 2, last_token_at: now })).to.include({ sessions: 2, lastTokenAt: now });
    expect(used({ id: 'app', live_sessions: 0 })).to.include({ lastTokenAt: then });
    expect(used({ id: 'app', live_sessions: 0 }), 'nothing to tell').not.to.have.property('sessions', 0);
  });

  it('says when the previous secret of a client was last used, until a later reading says that there is none', () => {
    const { columns } = status();
    if (columns.kind !== 'Client') throw new Error('of another kind');
    const live = { ...there, previousSecretLastUsed: then };
    const written = (usage: ClientUsage | undefined, over: object) =>
      statusToWrite(status({ observedGeneration: 2, columns: { ...columns, usage } }), over);
    const unused: ClientUsage = { id: 'app', live_sessions: 0 };
    const used = { ...unused, previous_secret_last_used: now };
    expect(written(used, there)).to.include({ previousSecretLastUsed: now });
    expect(written(used, live), 'a later use').to.include({ previousSecretLastUsed: now });
    expect(written(undefined, live), 'nothing read yet').to.include({ previousSecretLastUsed: then });
    expect(written(unused, live), 'it has retired').to.include({ previousSecretLastUsed: undefined });
  });

  it('is cut to what the definition lets in', () => {
    const columns = { ...status().columns, id: 'a'.repeat(200) };
    const written = statusToWrite(status({ columns, conditions: [ready({ message: 'x'.repeat(40_000) })] }), {});
    expect(written?.['id']).to.equal(undefined);
    expect(written?.conditions[0]?.message).to.have.length(32_768);
  });

  it('has the last use of a policy, which stays until another one is read', () => {
    const columns = {
      kind: 'AccessPolicy',
      id: 'p',
      engine: 'allow',
      subjects: '1',
      resolvedLinks: [],
      danglingLinks: [],
    } as const;
    const written = (lastUsed: string | undefined, live: object) =>
      statusToWrite(status({ columns: { ...columns, lastUsed } }), live);
    expect(written(now, {})).to.include({ lastUsed: now });
    expect(written(undefined, { lastUsed: then })).to.include({ lastUsed: then });
    expect(written(now, { lastUsed: then })).to.include({ lastUsed: now });
  });
});

describe('statusAfter', () => {
  it('R-53 is what was written, beside the fields and conditions of others, without what is empty now', () => {
    const foreign = { ...ready(), type: 'example.com/Checked' };
    const live = { ...there, secretName: 'app', lastTokenAt: then, conditions: [foreign, ...there.conditions] };
    const body = statusToWrite(status({ conditions: [ready({ message: 'new' })] }), live);
    const after: unknown = JSON.parse(JSON.stringify(statusAfter(body ?? expect.fail('nothing to write'), live)));
    const conditions = [ready({ message: 'new', lastTransitionTime: then }), foreign];
    expect(after).to.deep.equal({ ...there, lastTokenAt: then, conditions });
    expect(statusToWrite(status({ conditions: [ready({ message: 'new' })] }), after)).to.equal(undefined);
  });

  it('R-53 keeps the fields that the definition lacks as they are', () => {
    const live = { observedGeneration: 0, policies: 7 };
    const body = statusToWrite(status(), live, new Set(['policies']));
    expect(statusAfter(body ?? expect.fail('nothing to write'), live)).to.have.property('policies', 7);
  });
});
