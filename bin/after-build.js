'use strict'
const {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} = require('node:fs')
const {tmpdir} = require('node:os')
const {basename, join} = require('node:path')
const v8 = require('node:v8')
const {COMMON, cacheOf, compiled, forget, load, loaded} = require('./load.js')

const [, , step, dist] = process.argv
const program = () => load(join(dist, 'main.js'))

/** Command lines that need what every command needs, and hardly anything else. */
const PLAIN = [['version'], ['token', 'generate']]
/** What else is often seen. */
const LIGHT = [
  ['version', '--output', 'json'],
  ['version', '--nonsense'],
  ['--help'],
  ['init', '--help'],
  ['nonsense'],
]

async function writeManifest() {
  writeFileSync(join(dist, COMMON), '({})')
  writeFileSync(join(dist, 'manifest.json'), JSON.stringify(await program().describeProgram()))
}

/** One file to find, to read and to compile instead of many. */
function writeTogether(file, paths) {
  const parts = paths.map(
    (path) => `${JSON.stringify(basename(path))}:${readFileSync(path, 'latin1')}`,
  )
  writeFileSync(file, `({${parts.join(',')}})`)
}

/** Puts the chunks that a plain command loads into one file. */
async function writeCommon() {
  await inSilence(() => runAll(PLAIN))
  const paths = [...loaded.keys()]
  writeTogether(join(dist, COMMON), paths)
  for (const path of paths) rmSync(path)
}

/** Runs command lines whose output is of no interest, but for what is awaited in it. */
async function inSilence(work) {
  const {write} = process.stdout
  const {write: writeError} = process.stderr
  let said = () => undefined
  process.stdout.write = (text) => {
    said(String(text))
    return true
  }
  process.stderr.write = () => true
  try {
    await work((listener) => (said = listener))
  } finally {
    process.stdout.write = write
    process.stderr.write = writeError
  }
}

async function runAll(lines) {
  for (const line of lines) await program().main(line, dist)
}

const LOCAL = ['--bind-address', '127.0.0.1', '--apiserver-bind-port', '0']

/** Works in a folder that is removed again. A machine on which no server can run still gets a program; it only starts a little slower. */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'trustadm-build-'))
  try {
    await work((name) => ['--dir', join(folder, name)])
  } catch (error) {
    console.warn(`the server was not warmed up: ${error.message}`)
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

/** A whole control plane in this process, on the loopback. */
async function runServer(at, listen) {
  const ready = new Promise((resolve) =>
    listen((text) => text.includes('joinCommand') && resolve(JSON.parse(text))),
  )
  const line = ['init', '--foreground', '-o', 'json', ...LOCAL, ...at('plane')]
  const served = program().main(line, dist)
  const made = await Promise.race([ready, served])
  const lines = [['status'], ['certificate', 'check-expiration'], ['token', 'list']]
  await runAll(lines.map((one) => [...one, ...at('plane')]))
  const [, ...joining] = made.joinCommand.split(' ')
  await program().main([...joining, ...at('node'), '--node-name', 'build'], dist)
  process.kill(process.pid, 'SIGTERM')
  await served
}

/** A script's cache holds the functions that have run by now. One that is written is kept: what runs later would only make it larger. */
function writeCaches(written) {
  for (const [path, {script}] of compiled) {
    if (written.has(path)) continue
    writeFileSync(cacheOf(path), script.createCachedData())
    written.add(path)
  }
}

/** V8 rejects a cache that was made under other flags than those of the process that reads it. */
function ignoreFlags() {
  v8.setFlagsFromString = () => undefined
}

async function makeCaches() {
  ignoreFlags()
  const written = new Set()
  await inSilence(() => runAll(PLAIN))
  writeCaches(written)
  await inSilence(() => runAll(LIGHT))
  writeCaches(written)
  await inFolder((at) => inSilence((listen) => runServer(at, listen)))
  // The chunks of all other commands, without what their functions do.
  await program().describeProgram()
  writeCaches(written)
}

/** Runs `serve` until it is ready, and then `whenReady`. */
async function serveOnce(at, listen, whenReady) {
  forget()
  const ready = new Promise((resolve) =>
    listen((text) => text.startsWith('ready ') && resolve('ready')),
  )
  const served = program().main(['serve', ...at], dist)
  if ((await Promise.race([ready, served])) !== 'ready') throw new Error('it did not start')
  whenReady()
  process.kill(process.pid, 'SIGTERM')
  await served
}

/**
 * Puts all chunks that `serve` loads into the file of its command, with a cache of what runs until it is ready. The chunks stay
 * in their own files too: other commands need some of them.
 */
async function makeServer() {
  ignoreFlags()
  await inFolder(async (at) => {
    await inSilence(async (listen) => {
      const skipped =
        'control-plane,namespaces,rbac,kubeadm-config,cluster-info,mark-control-plane,bootstrap-token'
      const line = ['init', ...LOCAL, '--skip-phases', skipped, ...at('plane')]
      if ((await program().main(line, dist)) !== 0) throw new Error('its files were not made')
      let file
      await serveOnce(at('plane'), listen, () => {
        const paths = [...loaded.keys()].filter((path) => existsSync(path))
        file = paths[0]
        writeTogether(file, paths)
      })
      await serveOnce(at('plane'), listen, () => {
        writeFileSync(cacheOf(file), compiled.get(file).script.createCachedData())
      })
    })
  })
}

const STEPS = {manifest: writeManifest, common: writeCommon, cache: makeCaches, server: makeServer}
STEPS[step]().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
