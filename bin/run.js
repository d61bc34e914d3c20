#!/usr/bin/env node
'use strict'
// This file is read by old releases of Node.js too: it must hold nothing that they cannot parse, and load nothing before the check.
var NEEDED = [20, 18, 1]

function isTooOld(version) {
  var parts = version.split('.').map(Number)
  for (var index = 0; index < NEEDED.length; index += 1) {
    if (parts[index] !== NEEDED[index]) return parts[index] < NEEDED[index]
  }
  return false
}

function start() {
  var join = require('path').join
  var load = require('./load.js').load

  // oclif's own tracing would show whole command lines, and tokens with them.
  delete process.env.DEBUG
  delete process.env.CLI_FLAGS_DEBUG

  var dist = join(__dirname, '..', 'dist')
  load(join(dist, 'main.js'))
    .run(process.argv.slice(2), dist)
    .then(function (code) {
      process.exit(code)
    })
}

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    'Error: trustadm needs Node.js ' +
      NEEDED.join('.') +
      ' or newer; this is ' +
      process.versions.node +
      '\n' +
      'Try this: install Node.js 20 or newer, and run the command again\n',
  )
  process.exitCode = 1
} else {
  start()
}
