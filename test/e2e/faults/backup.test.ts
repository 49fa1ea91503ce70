import { expect } from 'chai';
import { system } from '../installation.ts';
import { apply, kubectl, readObject, untilReady, untilRolledOut } from '../kubectl.ts';
import { declare } from '../namespace.ts';
import { timed } from '../timed.ts';
import { bearer, boxUrl, secretEntries, tokenOf, tokenRequest } from '../token.ts';
import { createGround, notReady, type Ground } from './ground.ts';
import { eventually } from '../../support/eventually.ts';
import { readE2eConfig } from '../config.ts';

const namespace = 'restored';
const box = boxUrl(namespace);
const session = `${box}/Session`;

describe('story 6: a restored backup', () => {
  let ground: Ground;
  let revoked: string;
  let kept: string;
  before(async () => {
    ground = await createGround(namespace);
    const token = () => tokenFor('worker');
    [revoked, kept] = [await token(), await token()];
    await timed('backup: a copy of the data folder of the stopped Postgres', () =>
      copyData('/data/pgdata', '/data/backup'),
    );
    await untilServing();
    // What happens in the hour after the backup.
    await declare(namespace, [{ kind: 'Client', name: 'later', spec: { grant_types: ['client_credentials'] } }]);
    await untilReady('clients', namespace);
    expect((await ground.caller.call(bearer(session, revoked, 'DELETE'))).status).to.be.oneOf([200, 204]);
    expect((await ground.caller.call(bearer(session, revoked))).status).to.equal(401);
    await timed('restore', () => copyData('/data/backup', '/data/pgdata'));
    await untilServing();
  });
  after(() => ground.remove());

  const tokenFor = async (name: string): Promise<string> => {
    const secret = secretEntries(await readObject({ object: `secret/${name}`, namespace }));
    return tokenOf(ground.caller, tokenRequest(`${box}/auth/token`, name, secret['client_secret'] ?? ''));
  };
  const untilServing = async (): Promise<void> => {
    await untilRolledOut('deployment/boxgate-api', system);
    await eventually('a token is issued', async () => (await tokenFor('worker')) !== '');
  };

  it('declares rows again that were declared after the backup', async () => {
    await eventually('the Client that was declared later gets a token', async () => (await tokenFor('later')) !== '');
    await eventually('every status is Ready', async () => (await notReady(namespace)).length === 0);
  });

  it('F-19 keeps a token revoked that was revoked after the backup, once the documented time is declared', async () => {
    const now = new Date().toISOString();
    const patch = JSON.stringify({ spec: { revoke_sessions_before: now } });
    await kubectl('patch', 'box', 'box', '--namespace', namespace, '--type', 'merge', '--patch', patch);
    await eventually(
      'the token is refused',
      async () => (await ground.caller.call(bearer(session, revoked))).status === 401,
    );
    expect((await ground.caller.call(bearer(session, kept))).status, 'sessions from before the restore').to.equal(401);
    const fresh = await tokenFor('worker');
    expect((await ground.caller.call(bearer(`${box}/Client/worker`, fresh))).status).to.equal(200);
  });
});

/** Stops Postgres, replaces a folder of its volume by a copy of another one, and starts it again. */
async function copyData(from: string, to: string): Promise<void> {
  await scalePostgres(0);
  await kubectl('wait', '--for=delete', 'pod/boxgate-postgres-0', '--namespace', system, '--timeout', '120s');
  await apply(JSON.stringify(copier(`rm -rf ${to} && cp -a ${from} ${to} && chmod 700 ${from} ${to}`)));
  const phase = ['--for=jsonpath={.status.phase}=Succeeded', 'pod/copier'];
  await kubectl('wait', ...phase, '--namespace', system, '--timeout', '120s');
  await kubectl('delete', 'pod', 'copier', '--namespace', system);
  await scalePostgres(1);
  await untilRolledOut('statefulset/boxgate-postgres', system);
}

async function scalePostgres(replicas: number): Promise<void> {
  await kubectl('scale', 'statefulset/boxgate-postgres', '--namespace', system, '--replicas', String(replicas));
}

function copier(command: string): unknown {
  const postgres = 999;
  const container = {
    name: 'copier',
    image: readE2eConfig().postgresImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', command],
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  // Postgres refuses a data folder that its group may write, which a change of the group's rights would make of it.
  const policy = { fsGroupChangePolicy: 'OnRootMismatch' };
  const user = { runAsUser: postgres, runAsGroup: postgres, fsGroup: postgres, ...policy };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'copier', namespace: system },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, ...user, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-boxgate-postgres-0' } }],
    },
  };
}
