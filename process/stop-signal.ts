import { onParentGone } from './parent-pipe.ts';

/** Resolves when the process is to end; it may be told so while it still starts. Throws when the pipe (a file descriptor) cannot be watched. */
export function stopSignal(parentPipe: number | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (parentPipe !== undefined) onParentGone(parentPipe, resolve);
  process.once('SIGTERM', resolve);
  process.once('SIGINT', resolve);
  return promise;
}
