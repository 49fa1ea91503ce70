/** Runs work in the order of the calls, each after the previous one has ended, whatever its outcome. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const running = before.then(work);
    before = running.catch(() => undefined);
    return running;
  };
}
