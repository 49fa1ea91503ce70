#!/usr/bin/env node
// The `boxctl` command of a checkout.
'use strict';

require('../../program/launcher.cjs')('boxctl', 'api/cli/main.ts', []);
