#!/usr/bin/env node
'use strict'
const {join} = require('node:path')
const {load} = require('./load.js')

// Whoever reads has seen enough, as in "trustadm status | head -1".
process.stdout.on('error', ({code}) => process.exit(code === 'EPIPE' ? 0 : 1))
// Where even that cannot be said, nobody is left to be told.
process.stderr.on('error', () => undefined)

// oclif's own tracing would show whole command lines, and tokens with them.
delete process.env.DEBUG
delete process.env.CLI_FLAGS_DEBUG

const dist = join(__dirname, '..', 'dist')
load(join(dist, 'main.js'))
  .main(process.argv.slice(2), dist)
  .then((code) => process.exit(code))
