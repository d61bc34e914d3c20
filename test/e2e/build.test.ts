import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {fileURLToPath} from 'node:url'

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))

/** In a process with V8's own flags, as the program has when it loads its chunks. */
const REJECTED = `
  const {readFileSync, readdirSync} = require('node:fs')
  const {Script} = require('node:vm')
  const [folder] = process.argv.slice(1)
  const suffix = '.' + process.version + '-' + process.arch + '.cache'
  const rejected = (name) => {
    const source = readFileSync(folder + name.slice(0, -suffix.length), 'latin1')
    const script = new Script(source, {cachedData: readFileSync(folder + name)})
    return script.cachedDataRejected
  }
  const caches = readdirSync(folder).filter((name) => name.endsWith(suffix))
  console.log(JSON.stringify({caches, rejected: caches.filter(rejected)}))`

describe('the build', () => {
  it('makes code caches that V8 accepts', () => {
    const output = execFileSync(process.execPath, ['-e', REJECTED, DIST], {encoding: 'utf8'})
    const {caches, rejected} = JSON.parse(output) as {caches: string[]; rejected: string[]}
    assert.ok(caches.some((name) => name.startsWith('common.js')))
    assert.deepEqual(rejected, [])
  })
})
