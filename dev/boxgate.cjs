#!/usr/bin/env node
// The `boxgate` command.
'use strict';

const command = process.argv[2];
// The same as in program/small-heap.ts.
const isReconciler = command === 'dev' || command === 'operator';
const flags = isReconciler ? ['--max-semi-space-size=2', '--heap-growing-percent=20', '--expose-gc'] : [];

require('../program/launcher.cjs')('boxgate', 'dev/main.ts', flags);
