/** What has to be ended, in the opposite order of its beginning. */
export interface Closing {
  /** Adds something that has begun. */
  add(name: string, close: () => unknown): void;
  /** Ends everything once; a failure to end one thing does not keep the others from ending. */
  closeAll(): Promise<void>;
}

/** Nothing to end yet; `onError` hears what could not be ended. */
export function createClosing(onError: (name: string, error: unknown) => void): Closing {
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
