/** Things to stop, in the opposite order of their start. */
export interface Cleanup {
  /** Adds something that has started. */
  add(name: string, close: () => unknown): void;
  /** Stops everything once; a failure to stop one thing does not prevent the others from stopping. */
  closeAll(): Promise<void>;
}

/** Creates an empty list; `onError` is called for each thing that could not be stopped. */
export function createCleanup(onError: (name: string, error: unknown) => void): Cleanup {
  const steps: { readonly name: string; readonly close: () => unknown }[] = [];
  return {
    add(name, close) {
      steps.push({ name, close });
    },
    async closeAll() {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step.close();
        } catch (error) {
          onError(step.name, error);
        }
      }
    },
  };
}
