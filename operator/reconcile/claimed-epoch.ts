/**
 * Returns a function that claims the epoch of this reconciler at its first call, once; after a failure, at the next
 * call. It throws what the claim throws.
 */
export function claimedEpoch(claim: (signal: AbortSignal) => Promise<number>) {
  let claimed: Promise<number> | undefined;
  return async (signal: AbortSignal): Promise<number> => {
    claimed ??= claim(signal);
    const mine = claimed;
    try {
      return await mine;
    } catch (error) {
      if (claimed === mine) claimed = undefined;
      throw error;
    }
  };
}
