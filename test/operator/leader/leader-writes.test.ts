import { CoreV1Api } from '@kubernetes/client-node';
import { expect } from 'chai';
import { ManagementError } from '../../../api/client/management-error.ts';
import { createManagement, type Management } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { callsOfLeader, LeadershipLost, requireLead } from '../../../operator/leader/election.ts';
import { createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi, type KubeCall } from '../../../operator/kube/client/kube-api.ts';
import { startScriptedApiServer, status, type ScriptedApiServer } from '../../support/cluster/scripted-api-server.ts';

const { signal } = new AbortController();

const thrownBy = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe('a replica that leads no more', () => {
  let isLeading: boolean;
  beforeEach(() => {
    isLeading = false;
  });

  describe('towards the Kubernetes API', () => {
    let server: ScriptedApiServer;
    let api: KubeApi;
    beforeEach(async () => {
      server = await startScriptedApiServer();
      server.always('other', status(200));
      api = createKubeApi(
        createConnection(() => server.signIn()),
        { onWrite: () => requireLead(() => isLeading) },
      );
    });
    afterEach(() => server.close());

    const body = {};
    const secrets = { namespace: 'shop' };
    const app = { ...secrets, name: 'app' };
    const writes: Readonly<Record<string, KubeCall>> = {
      POST: (make) => make(CoreV1Api).createNamespacedSecret({ ...secrets, body }),
      PUT: (make) => make(CoreV1Api).replaceNamespacedSecret({ ...app, body }),
      DELETE: (make) => make(CoreV1Api).deleteNamespacedSecret(app),
      PATCH: (make) => make(CoreV1Api).patchNamespacedSecret({ ...app, body }),
    };
    for (const [method, call] of Object.entries(writes)) {
      it(`begins no ${method}, and does again once it leads`, async () => {
        const write = (): Promise<unknown> => api.call(call, signal, { patch: 'merge' });
        expect(await thrownBy(write())).to.be.instanceOf(LeadershipLost);
        expect(server.requests).to.deep.equal([]);
        isLeading = true;
        await write();
        expect(server.requests).to.have.length(1);
      });
    }

    it('may read', async () => {
      await api.call((make) => make(CoreV1Api).readNamespacedSecret(app), signal);
      expect(server.requests).to.have.length(1);
    });
  });

  describe('towards the API', () => {
    /** Nobody listens there: a call that begins fails otherwise. */
    const management = createManagement({ url: 'http://127.0.0.1:9', key: new Secret('unused') });
    const head = { cluster: 'c', epoch: 1, complete: false };
    const calls: Readonly<Record<string, (api: Management) => Promise<unknown>>> = {
      'claims no epoch': (api) => api.claimEpoch('c', signal),
      'moves no box': (api) => api.move('shop', { cluster: 'c', epoch: 1, database: 'eu' }, signal),
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
