import { onParentGone } from './parent-pipe.ts';

/** Resolves when the process is asked to stop, even while it starts. Throws if the pipe cannot be watched. */
export function stopSignal(parentPipe: number | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (parentPipe !== undefined) onParentGone(parentPipe, resolve);
  process.once('SIGTERM', resolve);
  process.once('SIGINT', resolve);
  return promise;
}
