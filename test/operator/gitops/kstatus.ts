import { isObject } from '../../../crds/path.ts';

/** Status that kstatus (Flux, kpt, Helm) computes for an object. */
export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

/**
 * Returns the status of a custom resource by the documented rules of kstatus, in their order: deletion, generation, the
 * abnormal conditions Reconciling and Stalled, then Ready. Without any of them an object is Current.
 */
export function kstatus(object: unknown): KStatus {
  const { metadata, status } = isObject(object) ? object : {};
  const { deletionTimestamp, generation } = isObject(metadata) ? metadata : {};
  const { observedGeneration, conditions } = isObject(status) ? status : {};
  const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  const statusOf = (type: string): unknown => all.find((one) => one['type'] === type)?.['status'];
  if (deletionTimestamp !== undefined) return 'Terminating';
  if (observedGeneration !== undefined && observedGeneration !== generation) return 'InProgress';
  if (statusOf('Reconciling') === 'True') return 'InProgress';
  if (statusOf('Stalled') === 'True') return 'Failed';
  const ready = statusOf('Ready');
  return ready === undefined || ready === 'True' ? 'Current' : 'InProgress';
}
