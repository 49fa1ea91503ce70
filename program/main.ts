import { run } from './commands.ts';
import { endOnSignals } from './signals.ts';

endOnSignals(process);
process.exitCode = await run(process.argv.slice(2), process.env, {});
