import { expect } from 'chai';
import { readE2eConfig } from '../config.ts';
import { nextRelease } from '../images.ts';
import { install, release, system } from '../installation.ts';
import { kubectl, untilRolledOut } from '../kubectl.ts';
import { runCommand } from '../run-command.ts';
import { timed } from '../timed.ts';
import { createGround, notReady, type Ground } from './ground.ts';
import { followStatuses } from './statuses.ts';

describe('story 4, F-24: rolling updates under load', () => {
  let ground: Ground;
  before(async () => {
    ground = await createGround('rolling');
  });
  after(() => ground.remove());

  const changes: [what: string, change: () => Promise<unknown>][] = [
    ['a rolling restart of the API', () => restart('deployment/boxgate-api')],
    ['a rolling restart of the operator', () => restart('deployment/boxgate-operator')],
    ['an upgrade to a next release with a schema migration', () => install(ofNextRelease())],
    [
      'a rollback, on the newer schema',
      () => runCommand('helm', ['rollback', release, '--namespace', system, '--wait', '--timeout', '180s']),
    ],
  ];
  for (const [what, change] of changes) {
    it(`fails no request and loses no token during ${what}, and every status stays Ready`, async () => {
      const statuses = followStatuses(ground.namespace);
      await ground.startLoad();
      await timed(what, change);
      expect(await ground.stopLoad(`load during ${what}`)).to.deep.equal([]);
      expect(await notReady(ground.namespace)).to.deep.equal([]);
      expect(await statuses.stop()).to.deep.equal([]);
    });
  }
});

async function restart(deployment: string): Promise<void> {
  await kubectl('rollout', 'restart', deployment, '--namespace', system);
  await untilRolledOut(deployment, system);
}

function ofNextRelease(): Readonly<Record<string, string>> {
  const [, nextTag = ''] = nextRelease(readE2eConfig().image).split(':');
  return { 'image.tag': nextTag };
}
