import { Socket } from 'node:net';

/**
 * Calls back once the other end of an inherited pipe is closed: the parent is gone, even if it was killed. Throws an
 * Error of one sentence if the descriptor is not a pipe.
 */
export function onParentGone(descriptor: number, gone: () => void): void {
  const pipe = openPipe(descriptor);
  pipe.on('error', gone);
  pipe.on('close', gone);
  pipe.on('end', gone);
  pipe.resume();
  pipe.unref();
}

function openPipe(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (cause) {
    throw new Error(`Descriptor ${String(descriptor)} (BOXGATE_PARENT_PIPE) is no pipe that a parent opened`, {
      cause,
    });
  }
}
