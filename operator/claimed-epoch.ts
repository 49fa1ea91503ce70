/**
 * The epoch of this reconciler: claimed when it is first asked for, once; where that failed, at the next asking. Throws
 * what the claim throws.
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
