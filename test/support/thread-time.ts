/** Runs work three times and returns the least processor time of this thread that a run took, in milliseconds. */
export async function leastThreadTime(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const began = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(began);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}
