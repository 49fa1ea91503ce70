import type { ApplyLine, ApplyResult } from '../../api/client/desired-state.ts';
import type { PassContext } from './pass-context.ts';

/** Sends lines to the API in one call and returns its results, once all of it is committed. Throws ManagementError. */
export async function applyLines(
  box: string,
  complete: boolean,
  lines: Iterable<ApplyLine>,
  { management, cluster, epoch, namespace, isNamespaceGone, quota, onProgress }: PassContext,
  signal: AbortSignal,
): Promise<readonly ApplyResult[]> {
  const report = (progress: { readonly done: number; readonly of: number }) => onProgress(box, progress);
  const claim = namespace === undefined ? {} : { namespace };
  const limits = quota === undefined ? {} : { quota };
  const missing = isNamespaceGone === true ? { missing: true as const } : {};
  const head = { cluster, epoch: await epoch(signal), complete, ...claim, ...missing, ...limits };
  return management.apply({ box, head, lines, onProgress: report }, signal);
}
