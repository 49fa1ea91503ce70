import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startCaller } from '../caller/caller.ts';
import { createSystemNamespace, install, system } from '../installation.ts';
import { kubectl, listObjects, textAt, untilReady, valueAt } from '../kubectl.ts';
import { startPostgres } from '../postgres.ts';
import { removeInstallation } from '../remove-installation.ts';
import { timed } from '../timed.ts';
import { tokenOf, tokenRequest } from '../token.ts';

const namespace = 'database';

describe('story 11: a Postgres 15 whose owner is no superuser', () => {
  before(async () => {
    await removeInstallation();
    await createSystemNamespace();
    await startPostgres(namespace);
    await timed('helm install with an external database', () =>
      install({
        'postgres.bundled.enabled': 'false',
        'database.owner.secretName': `${namespace}-owner`,
        'database.api.secretName': `${namespace}-api`,
      }),
    );
    await kubectl('apply', '--filename', 'examples/kubernetes/');
    await untilReady('boxes,clients,accesspolicies', 'bookshop');
  });
  after(() => removeInstallation());

  it('serves an installation: it is migrated, boxes are Ready, and a pod gets a token', async () => {
    const caller = await startCaller({ namespace: 'bookshop', name: 'reporting', secret: 'reporting' });
    try {
      const file = (name: string) => caller.read(`/secret/${name}`);
      const url = await file('in_cluster_token_url');
      const request = tokenRequest(url, await file('client_id'), await file('client_secret'));
      expect(await tokenOf(caller, request))
        .to.be.a('string')
        .and.not.equal('');
    } finally {
      await caller.close();
    }
  });

  it('is named by the status of a Box while it is away, and by one Event of the installation', async () => {
    // E-29: pods that are not ready were in no Service, so that the operator saw ENETUNREACH. E-30: one for each Box.
    await kubectl('scale', 'deployment/postgres', '--replicas=0', '--namespace', namespace);
    const ready = async () =>
      kubectl(
        'get',
        'box/box',
        '--namespace',
        'bookshop',
        '--output',
        'jsonpath={.status.conditions[?(@.type=="Ready")].message}',
      );
    await eventually('the Box names Postgres', async () => (await ready()).includes(': Postgres '), 60_000);
    const outages = async () =>
      (await listObjects('events')).filter((event) => valueAt(event, 'reason') === 'Unavailable');
    await eventually('an Event tells it', async () => (await outages()).length > 0, 60_000);
    expect((await outages()).map((event) => textAt(event, 'metadata', 'namespace'))).to.deep.equal([system]);
  });
});
