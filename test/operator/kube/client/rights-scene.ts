import { isObject } from '../../../../crds/path.ts';
import type { Environment } from '../../../../program/environment.ts';
import { mayAccount } from '../../../support/cluster/access-review.ts';
import type { ControlPlane } from '../../../support/cluster/control-plane.ts';
import { eventually } from '../../../support/eventually.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { operatorNamespace, type OperatorProcess } from '../../../support/operator-process.ts';
import { pathOfRole, rulesWithout, type Right } from './declared-rights.ts';
import { startProcessRig, type ProcessRig } from '../../operator-rig.ts';

/** An operator from which a right is taken, and what is around it. */
export interface RightsScene {
  readonly rig: ProcessRig;
  /** A box of this case's own, with rights on its Secrets. */
  readonly box: string;
  /** Ends every connection of the operator to the API server: it has to ask for everything again. */
  cut(): void;
  /** Ends the operator, and starts another one. */
  restart(): Promise<void>;
  /** Starts another one if the last has ended. */
  revive(): Promise<void>;
  /** Checks whether the operator has logged this since the right was revoked. */
  said(what: RegExp): boolean;
}

/** Scenes of one control plane, one after the other. */
export interface RightsStage {
  /** A new box; the operator runs with these settings beside its own. */
  scene(environment: Environment): Promise<RightsScene>;
  /** Takes a right from the operator, does something, and gives it back, whatever comes of it. */
  without(right: Right, scene: RightsScene, work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Each second it looks at everything; its Lease is tried often, and lasts while a case takes it away. Nothing is listed
 * again, however long the cases take: a list would tell of what a watch is needed for.
 */
const quick: Environment = {
  BOXGATE_SWEEP_SECONDS: '1',
  BOXGATE_LEASE_SECONDS: '15',
  BOXGATE_RELIST_SECONDS: '86400',
  BOXGATE_LOG_LEVEL: 'debug',
};

/** An operator, and what it was started with. */
interface Running {
  readonly operator: OperatorProcess;
  readonly settings: string;
  /** It leads, has listed everything and watches it. */
  isAtWork: boolean;
}

/** A control plane of the test's own: roles are everybody's. */
export async function startRightsStage(plane: ControlPlane): Promise<RightsStage> {
  const rig = await startProcessRig(plane);
  // A cluster may be without it: it gives every ServiceAccount what our role gives the operator.
  const everybodys = 'system:service-account-issuer-discovery';
  await plane.call({ method: 'DELETE', path: `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${everybodys}` });
  const proxy = await startFaultProxy(Number(new URL(plane.url).port));
  const cluster = { KUBERNETES_SERVICE_PORT: String(proxy.port) };
  let running: Running | undefined;
  let from = 0;

  async function start(environment: Environment): Promise<void> {
    await running?.operator.end('SIGTERM');
    const operator = await rig.operatorProcess({ ...quick, ...environment, ...cluster });
    running = { operator, settings: JSON.stringify(environment), isAtWork: false };
    from = 0;
  }

  const hasEnded = (): boolean => running?.operator.hasEnded() !== false;

  /** An operator with these settings has made an object live. */
  async function untilAtWork(environment: Environment): Promise<void> {
    const box = await rig.box();
    await rig.put('AccessPolicy', box, 'first', { engine: 'allow' });
    await eventually('the operator works', async () => {
      if (hasEnded() || running?.settings !== JSON.stringify(environment)) await start(environment);
      return (await rig.condition('AccessPolicy', box, 'first')) === 'True/Ready';
    });
    if (running !== undefined) running.isAtWork = true;
  }

  return {
    async scene(environment) {
      const isSame = running?.settings === JSON.stringify(environment);
      if (hasEnded() || !isSame || running?.isAtWork !== true) await untilAtWork(environment);
      return {
        rig,
        box: await rig.box(),
        cut: () => proxy.cut(),
        restart: () => start(environment),
        async revive() {
          if (hasEnded()) await start(environment);
          // It may be about to end: its time without a Lease goes on until it renews that.
          if (running !== undefined) running.isAtWork = false;
        },
        said: (what) => running?.operator.lines.slice(from).some((line) => what.test(line)) === true,
      };
    },
    async without(right, { box }, work) {
      from = running?.operator.lines.length ?? 0;
      const role = pathOfRole(right.role);
      const { body } = await plane.call({ path: role });
      const { metadata, rules } = isObject(body) ? body : {};
      const put = async (next: unknown, isAllowed: boolean): Promise<void> => {
        const { name, namespace } = isObject(metadata) ? metadata : {};
        await plane.call({ method: 'PUT', path: role, body: { metadata: { name, namespace }, rules: next } });
        const what = `the operator may${isAllowed ? '' : ' not'} ${right.name}`;
        await eventually(what, async () => (await mayOperator(plane, right, box)) === isAllowed);
      };
      await put(rulesWithout(rules, right), false);
      try {
        await work();
      } finally {
        await put(rules, true);
      }
    },
    async stop() {
      await rig.stop();
      await proxy.close();
    },
  };
}

/** Checks with the API server whether the operator has a right. */
function mayOperator(
  plane: ControlPlane,
  { verb, group, resource, object, role }: Right,
  box: string,
): Promise<boolean> {
  const [name = '', subresource] = resource.split('/');
  const namespace = role.namespace ?? box;
  const attributes =
    group === undefined
      ? { nonResourceAttributes: { verb, path: resource } }
      : { resourceAttributes: { verb, group, resource: name, subresource, namespace, name: object } };
  return mayAccount(plane, { namespace: operatorNamespace, name: 'boxgate-operator' }, attributes);
}

/** A right and its purpose: something that fails without it, and succeeds as soon as it is granted again. */
export interface RightCase {
  /** Description of what breaks, as the end of a sentence. */
  readonly breaks: string;
  /** Settings of the operator beside those of every case. */
  readonly environment?: Environment;
  /** Done while the operator has the right. */
  readonly prepare?: (scene: RightsScene) => Promise<void>;
  /** Makes the operator need the right; done after it was taken. */
  readonly provoke: (scene: RightsScene) => Promise<void>;
  /**
   * Checks whether the operator reports the failure; by default, in a log line that names the verb and the resource.
   */
  readonly shows?: (scene: RightsScene) => Promise<boolean>;
  /** Checks whether the result that needs the right is there. */
  readonly wanted: (scene: RightsScene) => Promise<boolean>;
}
