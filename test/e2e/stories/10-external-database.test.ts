import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { eventually } from '../../support/eventually.ts';
import { startCaller } from '../caller/caller.ts';
import { readE2eConfig } from '../config.ts';
import { install, system } from '../installation.ts';
import { apply, kubectl, listObjects, textAt, untilReady, untilRolledOut, valueAt } from '../kubectl.ts';
import { createNamespace } from '../namespace.ts';
import { removeInstallation } from '../remove-installation.ts';
import { timed } from '../timed.ts';
import { tokenOf, tokenRequest } from '../token.ts';

const namespace = 'database';
const passwords = { superuser: newPassword(), owner: newPassword(), api: newPassword() };

describe('story 11: a Postgres 15 whose owner is no superuser', () => {
  before(async () => {
    await removeInstallation();
    await createNamespace(namespace, { secretless: true });
    await apply(database());
    await kubectl('create', 'namespace', system);
    await kubectl('label', 'namespace', system, 'pod-security.kubernetes.io/enforce=restricted');
    await createUrl('owner-url', 'boxgate_owner', passwords.owner);
    await createUrl('api-url', 'boxgate_api', passwords.api);
    await untilRolledOut('deployment/postgres', namespace);
    await timed('helm install with an external database', () =>
      install({
        'postgres.bundled.enabled': 'false',
        'database.owner.secretName': 'owner-url',
        'database.api.secretName': 'api-url',
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

function newPassword(): string {
  return randomBytes(12).toString('hex');
}

async function createUrl(secret: string, user: string, password: string): Promise<void> {
  const uri = `postgres://${user}:${password}@postgres.${namespace}.svc:5432/boxgate`;
  await kubectl('create', 'secret', 'generic', secret, '--namespace', system, `--from-literal=uri=${uri}`);
}

/** Returns the manifest of a Postgres with two roles, none of which may do more than it must. */
function database(): string {
  const plain = 'LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD';
  return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: postgres}}
  template:
    metadata: {labels: {app: postgres}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: postgres
          image: ${readE2eConfig().oldestPostgresImage}
          imagePullPolicy: IfNotPresent
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          env:
            - {name: POSTGRES_PASSWORD, value: ${passwords.superuser}}
            - name: POSTGRES_STATEMENTS
              value: |
                CREATE ROLE boxgate_owner ${plain} '${passwords.owner}'
                CREATE ROLE boxgate_api ${plain} '${passwords.api}'
                CREATE DATABASE boxgate OWNER boxgate_owner
          ports: [{containerPort: 5432}]
          readinessProbe: {tcpSocket: {port: 5432}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {app: postgres}
  ports: [{port: 5432}]
`;
}
