/**
 * Settings of V8 for a process that keeps many small things and has other things beside it on the machine: a small
 * nursery, and a heap that grows by a fifth before it is cleaned up. With 20,000 files this halves the memory and costs
 * half a second at the start (measured). They count only on the command line: set later, what the modules took while they
 * were loaded is never given back.
 */
export const SMALL_HEAP = ['--max-semi-space-size=2', '--heap-growing-percent=20'] as const;

/** What a reconciler's process is started with: it also cleans up by itself, see {@link giveBackMemory}. */
export const RECONCILER_HEAP = [...SMALL_HEAP, '--expose-gc'] as const;

/**
 * Begins this program anew in the same process, with a small heap, and with compiled code kept in a folder: then nothing
 * has to compile TypeScript, which takes 18 MB by itself. Returns when that is so already, or cannot be had here.
 */
export function withSmallHeap(compileCache: string, environment: NodeJS.ProcessEnv): void {
  const { execArgv, execPath, argv } = process;
  const isSmall = RECONCILER_HEAP.every((flag) => execArgv.includes(flag));
  if (isSmall || process.connected || !('execve' in process)) return;
  // It is still called experimental, and says so on standard error.
  process.emitWarning = () => undefined;
  const settings = { ...environment, NODE_COMPILE_CACHE: compileCache };
  process.execve(execPath, [execPath, ...RECONCILER_HEAP, ...execArgv, ...argv.slice(1)], settings);
}

/** Gives back what a large piece of work has left behind: V8 by itself waits for more of the kind, which never comes. */
export function giveBackMemory(): void {
  // Pages that are nearly empty are given back too.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
