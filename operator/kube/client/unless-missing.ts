import { KubeError } from './kube-error.ts';

/**
 * Resolves with what a call resolves with; undefined if what it is about does not exist (404). Throws its other errors.
 */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'not-found') return undefined;
    throw error;
  }
}
