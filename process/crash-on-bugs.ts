import { errorFacts, flushLog, type Log } from './log.ts';

/** Logs an uncaught error and exits with 1: a new process is better than one in an unknown state. */
export function crashOnBugs(log: Log): void {
  const crash = (error: unknown): void => {
    log.fatal(errorFacts(error), 'bug');
    void flushLog(log).then(() => process.exit(1));
  };
  process.once('uncaughtException', crash);
  process.once('unhandledRejection', crash);
}
