#!/usr/bin/env node
'use strict'
const {join} = require('node:path')
const {load} = require('./load.js')

const dist = join(__dirname, '..', 'dist')
load(join(dist, 'main.js'))
  .main(process.argv.slice(2), dist)
  .then((code) => process.exit(code))
