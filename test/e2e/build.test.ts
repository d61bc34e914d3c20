import assert from 'node:assert/strict'
import {execFileSync, spawnSync} from 'node:child_process'
import {readFile, readdir, stat} from 'node:fs/promises'
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

/** The files that a command line loads. */
const LOADED = `
  const {basename} = require('node:path')
  const {compiled, load} = require('../../bin/load.js')
  const [folder, ...line] = process.argv.slice(1)
  process.stdout.write = () => true
  load(folder + 'main.js').main(line, folder).then(() => {
    console.error(JSON.stringify([...compiled.keys()].map((path) => basename(path))))
  })`

function filesLoadedBy(...line: string[]): string[] {
  const {stderr} = spawnSync(process.execPath, ['-e', LOADED, DIST, ...line], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  return JSON.parse(stderr) as string[]
}

describe('the build', () => {
  it('has all that a plain command needs in one file', () => {
    assert.deepEqual(filesLoadedBy('token', 'generate'), ['common.js'])
  })

  it('has all that serve needs in one more', async () => {
    const sizes = await Promise.all(
      (await readdir(DIST))
        .filter((name) => /^serve-\w+\.js$/.test(name))
        .map(async (name) => (await stat(`${DIST}${name}`)).size),
    )
    assert.ok(Math.max(...sizes) > 500_000)
  })

  it('keeps what only help needs out of that file', async () => {
    const ofHelp = /"node_modules\/(?:ejs|@oclif\/core\/lib\/(?:config|help))\/[^"]*"\(/g
    const common = await readFile(`${DIST}common.js`, 'latin1')
    assert.deepEqual(common.match(ofHelp), null)
    assert.ok(filesLoadedBy('init', '--help').length > 1)
  })

  it('makes code caches that V8 accepts', () => {
    const output = execFileSync(process.execPath, ['-e', REJECTED, DIST], {encoding: 'utf8'})
    const {caches, rejected} = JSON.parse(output) as {caches: string[]; rejected: string[]}
    assert.ok(caches.some((name) => name.startsWith('common.js')))
    assert.deepEqual(rejected, [])
  })
})
