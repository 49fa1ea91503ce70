#!/usr/bin/env node
// `kubectl boxgate` of a checkout: put this folder's file on the PATH as `kubectl-boxgate`.
'use strict';

process.env.BOXCTL_PLUGIN = 'kubectl';
require('../../program/launcher.cjs')('kubectl-boxgate', 'api/cli/main.ts', []);
