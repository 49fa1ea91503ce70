import { errorFacts, flushLog, type Log } from './log.ts';

/** Ends the process with 1 at an error that nobody caught, its reason logged: better a new process than an unknown state. */
export function crashOnBugs(log: Log): void {
  const crash = (error: unknown): void => {
    log.fatal(errorFacts(error), 'bug');
    void flushLog(log).then(() => process.exit(1));
  };
  process.once('uncaughtException', crash);
  process.once('unhandledRejection', crash);
}
