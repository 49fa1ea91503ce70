/**
 * Returns how many files and connections this process may have open: RLIMIT_NOFILE, which Node.js raises to its hard
 * limit at the start. Infinity where there is no limit, or the system does not tell it.
 */
export function openFilesLimit(): number {
  // Without it the report looks up the names of all peers. The types do not know it yet.
  Reflect.set(process.report, 'excludeNetwork', true);
  const soft = ['userLimits', 'open_files', 'soft'].reduce<unknown>(
    (found, key) => Reflect.get(Object(found), key),
    process.report.getReport(),
  );
  return typeof soft === 'number' ? soft : Infinity;
}
