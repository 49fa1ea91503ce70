import type { ApplyLine, ApplyResult } from '../../../api/client/desired-state.ts';
import type { BoxPass } from '../box-pass.ts';

/** Part of a pass that a call to the API needs. */
export type ApplyCaller = Pick<BoxPass, 'box' | 'listing' | 'namespace' | 'quota' | 'context' | 'signal'>;

/** Sends lines to the API in one call and returns its results, once all of it is committed. Throws ManagementError. */
export async function applyLines(
  { box, listing, namespace, quota, context, signal }: ApplyCaller,
  complete: boolean,
  lines: Iterable<ApplyLine>,
): Promise<readonly ApplyResult[]> {
  const { management, cluster, epoch, onProgress } = context;
  const report = (progress: { readonly done: number; readonly of: number }) => onProgress(box, progress);
  const claim = namespace === undefined ? {} : { namespace };
  const limits = quota === undefined ? {} : { quota };
  const missing = listing.isGone === true ? { missing: true as const } : {};
  const head = { cluster, epoch: await epoch(signal), complete, ...claim, ...missing, ...limits };
  return management.apply({ box, head, lines, onProgress: report }, signal);
}
