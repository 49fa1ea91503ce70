/** Keeps one thing ready that takes long to make. */
export interface Supply<Thing> {
  /** The one that is ready; another is begun. */
  take(): Promise<Thing>;
  /** The one that nobody took. */
  rest(): Promise<Thing>;
}

/** Begins with the first at once. */
export function createSupply<Thing>(make: () => Promise<Thing>): Supply<Thing> {
  let next = begun(make);
  return {
    take() {
      const taken = next;
      // Not at the same time: they would take each other's processor.
      next = taken.then(() => begun(make));
      next.catch(() => undefined);
      return taken;
    },
    rest: () => next,
  };
}

function begun<Thing>(make: () => Promise<Thing>): Promise<Thing> {
  const thing = make();
  // Who takes it hears of it.
  thing.catch(() => undefined);
  return thing;
}
