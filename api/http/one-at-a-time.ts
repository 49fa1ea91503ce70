/** Runs work in the order in which it is asked for, each when the one before has ended, however that ended. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const running = before.then(work);
    before = running.catch(() => undefined);
    return running;
  };
}
