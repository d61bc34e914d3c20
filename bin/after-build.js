'use strict'
const {writeFileSync} = require('node:fs')
const {join} = require('node:path')
const {cacheOf, load, loaded} = require('./load.js')

const [, , step, dist] = process.argv

/** Command lines that touch what most commands need. Their output is of no interest. */
const WARM_UP = [
  ['version'],
  ['version', '--output', 'json'],
  ['--help'],
  ['init', '--help'],
  ['nonsense'],
]

async function writeManifest() {
  const {describeProgram} = load(join(dist, 'main.js'))
  writeFileSync(join(dist, 'manifest.json'), JSON.stringify(await describeProgram()))
}

/** The cache of a script holds the functions that have run by now, so those of a usual run are run first. */
async function writeCaches() {
  const {main} = load(join(dist, 'main.js'))
  process.stdout.write = () => true
  process.stderr.write = () => true
  for (const line of WARM_UP) await main(line, dist)
  for (const [path, {script}] of loaded) writeFileSync(cacheOf(path), script.createCachedData())
}

const STEPS = {manifest: writeManifest, cache: writeCaches}
STEPS[step]().catch((error) => {
  process.exitCode = 1
  throw error
})
