import { watchApiAvailability, type ApiAvailability, type ApiAvailabilityOptions } from './api-availability.ts';
import type { BoxCache } from './box-cache.ts';
import type { PassContext } from './pass-context.ts';

/** Reachability of the API, and what follows from it. */
export interface ApiRecovery {
  readonly reach: ApiAvailability;
  /** Adds the boxes whose last pass failed, and those whose status reports whether the API answers. */
  readonly retry: () => void;
  /** Notes that a pass over a box succeeded. */
  readonly succeeded: (box: string) => void;
}

/** Dependencies of following the API. */
export interface ApiFollower extends Pick<PassContext, 'management'>, Pick<ApiAvailabilityOptions, 'schedule'> {
  /** Called once for each outage, with its first reason. */
  readonly onApiAway?: (fault: string) => void;
}

/** Watches whether the API answers. Boxes report each change; when the API is back, failed boxes are retried. */
export function followApi(
  { management, schedule, onApiAway }: ApiFollower,
  caches: ReadonlyMap<string, BoxCache>,
  failing: Map<string, unknown>,
  add: (box: string) => void,
): ApiRecovery {
  const retry = (): void => [...removalsFirst([...failing.keys()], caches), ...withBox(caches)].forEach(add);
  const ask = (signal: AbortSignal): Promise<void> => management.ready(signal);
  const onAway = (fault: string, isNew: boolean): void => {
    withBox(caches).forEach(add);
    if (isNew) onApiAway?.(fault);
  };
  const reach = watchApiAvailability({ ask, onAway, onReturn: retry, schedule });
  const succeeded = (box: string): void => {
    failing.delete(box);
    reach.noteServed();
  };
  return { reach, retry, succeeded };
}

/** Returns the boxes that have a Box, whose status reports whether the API answers. */
function withBox(caches: ReadonlyMap<string, BoxCache>): readonly string[] {
  const has = ({ declared: { objects } }: BoxCache): boolean =>
    [...objects.values()].some(({ object }) => object.kind === 'Box');
  return [...caches].flatMap(([box, cache]) => (has(cache) ? [box] : []));
}

/** Returns these boxes, those with outstanding removals first. */
function removalsFirst(boxes: readonly string[], caches: ReadonlyMap<string, BoxCache>): readonly string[] {
  const owes = (box: string): boolean => caches.get(box)?.deletions.hasPending === true;
  return [...boxes.filter(owes), ...boxes.filter((box) => !owes(box))];
}
