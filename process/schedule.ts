/** Calls back after `wait` milliseconds, unless the returned function is called first. */
export function schedule(wait: number, callback: () => void): () => void {
  const timer = setTimeout(callback, wait);
  return () => clearTimeout(timer);
}
