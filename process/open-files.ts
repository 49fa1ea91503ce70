/**
 * Returns how many files and connections this process may have open: RLIMIT_NOFILE, which Node.js raises to its hard
 * limit at the start. Infinity where there is no limit, or the system does not tell it.
 */
export function openFilesLimit(): number {
  const { report } = process;
  // A lookup of the names of all peers would take long.
  report.excludeNetwork = true;
  const found = Object(report.getReport());
  const soft: unknown = Object(Object(found.userLimits).open_files).soft;
  return typeof soft === 'number' ? soft : Infinity;
}
