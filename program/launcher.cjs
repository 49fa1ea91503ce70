// Starts a program of this checkout under the Node that package-lock.json pins. Plain CommonJS that any Node from 12 on
// can run, because the programs are TypeScript that older Nodes cannot load.
'use strict';

const { spawn } = require('child_process');
const { existsSync, realpathSync } = require('fs');
const { constants } = require('os');
const path = require('path');
const { pathToFileURL } = require('url');

const root = path.dirname(__dirname);
const node = path.join(root, 'node_modules', 'node', 'bin', 'node');
// Compiled code is kept between runs: half a second less at each start, and 25 MB less memory, for then TypeScript
// is not loaded. Not in the system's temporary folder, where others could put code of theirs.
const cache = path.join(root, 'node_modules', '.cache', 'boxgate');
const args = process.argv.slice(2);

/** Starts the program in a file below the root, with flags of Node; `name` is the command that a person typed. */
module.exports = function launch(name, file, flags) {
  const program = path.join(root, file);
  if (!existsSync(node)) {
    process.stderr.write(`${name}: its Node.js is not installed. Run \`npm ci\` in ${root} first.\n`);
    process.exitCode = 1;
  } else if (realpathSync(process.execPath) === realpathSync(node)) {
    load(program);
  } else if (process.execve) {
    replace([...flags, program, ...args]);
  } else {
    supervise(name, [...flags, program, ...args]);
  }
};

function environment() {
  return Object.assign({ NODE_COMPILE_CACHE: cache }, process.env);
}

/** This is the right Node already (npm scripts and npx put it first on the PATH): go on in this process. */
function load(program) {
  process.argv[1] = program;
  require('module').enableCompileCache(cache);
  import(pathToFileURL(program));
}

/** Node 22.15 and 23.11 on: the same process goes on as the right Node. */
function replace(parameters) {
  process.emitWarning = () => undefined; // execve is still called experimental
  process.execve(node, [node, ...parameters], environment());
}

/**
 * Older Nodes: a child. Signals go through to it, its end is ours. The IPC channel carries nothing: when this process
 * is gone, however it died, the child sees `disconnect` and stops too (main.ts).
 */
function supervise(name, parameters) {
  const child = spawn(node, parameters, {
    env: environment(),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']) {
    // A terminal sends ^C and ^\ to the child as well; a second one would cut its graceful stop short.
    const fromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
    process.on(signal, () => fromTerminal || child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(`${name}: cannot start ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // A signal that this process cannot die of leaves the shell's word for it.
    setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 100);
  });
}
