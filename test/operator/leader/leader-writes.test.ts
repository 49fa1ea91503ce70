import { expect } from 'chai';
import { ManagementError } from '../../../api/client/management-error.ts';
import { createManagement, type Management } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { LeadershipLost, callsOfLeader, writesOfLeader } from '../../../operator/leader/election.ts';
import type { KubeCall } from '../../../operator/kube/client/kube-api.ts';
import { startScriptedApiServer, status, type ScriptedApiServer } from '../../support/cluster/scripted-api-server.ts';
import { apiOf } from '../kube/things.ts';

const { signal } = new AbortController();
const path = '/api/v1/namespaces/shop/secrets/app';

const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe('a replica that leads no more', () => {
  let isLeading: boolean;
  beforeEach(() => {
    isLeading = false;
  });

  describe('towards the Kubernetes API', () => {
    let server: ScriptedApiServer;
    beforeEach(async () => {
      server = await startScriptedApiServer();
      server.always('other', status(200));
    });
    afterEach(() => server.close());

    const writes: readonly KubeCall[] = [
      { method: 'POST', path, body: {} },
      { method: 'PUT', path, body: {} },
      { method: 'DELETE', path },
      ...(['apply', 'merge', 'json'] as const).map((patch) => ({ method: 'PATCH', path, body: {}, patch }) as const),
    ];
    for (const call of writes) {
      it(`begins no ${[call.method, 'patch' in call ? call.patch : ''].join(' ').trim()}, and does again once it leads`, async () => {
        const api = writesOfLeader(apiOf(server), () => isLeading);
        expect(await thrownBy(api.call(call, signal))).to.be.instanceOf(LeadershipLost);
        expect(server.requests).to.deep.equal([]);
        isLeading = true;
        await api.call(call, signal);
        expect(server.requests).to.have.length(1);
      });
    }

    it('may read', async () => {
      await writesOfLeader(apiOf(server), () => isLeading).call({ path }, signal);
      expect(server.requests).to.have.length(1);
    });
  });

  describe('towards the API', () => {
    /** Nobody listens there: a call that begins fails otherwise. */
    const management = createManagement({ url: 'http://127.0.0.1:9', key: new Secret('unused') });
    const head = { cluster: 'c', epoch: 1, complete: false };
    const calls: Readonly<Record<string, (api: Management) => Promise<unknown>>> = {
      'claims no epoch': (api) => api.claimEpoch('c', signal),
      'applies nothing': (api) => api.apply({ box: 'shop', head, lines: [] }, signal),
    };
    for (const [what, call] of Object.entries(calls)) {
      it(what, async () => {
        const api = callsOfLeader(management, () => isLeading);
        expect(await thrownBy(call(api))).to.be.instanceOf(LeadershipLost);
        isLeading = true;
        expect(await thrownBy(call(api))).to.be.instanceOf(ManagementError);
      });
    }
  });
});
