#!/usr/bin/env node
// The `boxgate` command. Plain CommonJS that any Node from 12 on can run: it finds the Node that package-lock.json
// pins and hands over to it, because Boxgate itself is TypeScript that older Nodes cannot load.
'use strict';

const { spawn } = require('child_process');
const { existsSync, realpathSync } = require('fs');
const { constants } = require('os');
const path = require('path');
const { pathToFileURL } = require('url');

const root = path.dirname(__dirname);
const node = path.join(root, 'node_modules', 'node', 'bin', 'node');
const program = path.join(root, 'dev', 'main.ts');
// Compiled code is kept between runs: half a second less at each start, and 25 MB less memory, for then TypeScript
// is not loaded. Not in the system's temporary folder, where others could put code of theirs.
const cache = path.join(root, 'node_modules', '.cache', 'boxgate');
const args = process.argv.slice(2);
// The same as in process/small-heap.ts.
const isReconciler = args[0] === 'dev' || args[0] === 'operator';
const flags = isReconciler ? ['--max-semi-space-size=2', '--heap-growing-percent=20', '--expose-gc'] : [];

start();

function start() {
  if (!existsSync(node)) {
    process.stderr.write(`boxgate: its Node.js is not installed. Run \`npm ci\` in ${root} first.\n`);
    process.exitCode = 1;
  } else if (realpathSync(process.execPath) === realpathSync(node)) {
    load();
  } else if (process.execve) {
    replace();
  } else {
    supervise();
  }
}

function environment() {
  return Object.assign({ NODE_COMPILE_CACHE: cache }, process.env);
}

/** This is the right Node already (npm scripts and npx put it first on the PATH): go on in this process. */
function load() {
  process.argv[1] = program;
  require('module').enableCompileCache(cache);
  import(pathToFileURL(program));
}

/** Node 22.15 and 23.11 on: the same process goes on as the right Node. */
function replace() {
  process.emitWarning = () => undefined; // execve is still called experimental
  process.execve(node, [node, ...flags, program, ...args], environment());
}

/**
 * Older Nodes: a child. Signals go through to it, its end is ours. The IPC channel carries nothing: when this process
 * is gone, however it died, the child sees `disconnect` and stops too (main.ts).
 */
function supervise() {
  const child = spawn(node, [...flags, program, ...args], {
    env: environment(),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']) {
    // A terminal sends ^C and ^\ to the child as well; a second one would cut its graceful stop short.
    const fromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
    process.on(signal, () => fromTerminal || child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(`boxgate: cannot start ${node}: ${error.message}\n`);
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
