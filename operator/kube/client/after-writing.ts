/**
 * Returns a signal that is aborted one turn of the event loop after the given one. A request with a body must not be
 * aborted in the turn that sends it: Node (24.21) then frames the unsent body of the closed HTTP/2 stream forever, in
 * empty DATA frames, and the process never gets to run anything else.
 */
export function afterWriting(signal: AbortSignal): AbortSignal {
  const written = new AbortController();
  const abort = (): void => {
    // The body is framed between two turns.
    setImmediate(() => setImmediate(() => written.abort(signal.reason)));
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return written.signal;
}
