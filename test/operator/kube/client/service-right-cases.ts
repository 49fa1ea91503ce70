import { eventually } from '../../../support/eventually.ts';
import { findService, patchService } from '../services/found-service.ts';
import type { RightCase, RightsScene } from './rights-scene.ts';

/** The rights on the Service of a box. */
export const serviceRightCases: Readonly<Record<string, RightCase>> = {
  'create /services': {
    breaks: 'pods do not find a new box by its Service',
    provoke: putBox,
    shows: isForbidden,
    wanted: hasService,
  },
  'get /services': {
    breaks: 'whether a box has its Service is not known',
    provoke: putBox,
    shows: isForbidden,
    wanted: hasService,
  },
  'patch /services': {
    breaks: 'a Service that somebody changed leads elsewhere',
    async prepare(scene) {
      await putBox(scene);
      await eventually('the Service is there', () => hasService(scene));
    },
    provoke: ({ rig, box }) => patchService(rig.plane, box, { spec: { externalName: 'elsewhere.example.com' } }),
    shows: isForbidden,
    wanted: hasService,
  },
};

async function putBox({ rig, box }: RightsScene): Promise<void> {
  await rig.put('Box', box, 'box', {});
}

async function isForbidden({ rig, box }: RightsScene): Promise<boolean> {
  return (await rig.condition('Box', box, 'box', 'ServiceReady')) === 'False/ServiceForbidden';
}

async function hasService({ rig, box }: RightsScene): Promise<boolean> {
  const service = await findService(rig.plane, box);
  return String(service?.spec['externalName']).startsWith('boxgate-api.');
}
