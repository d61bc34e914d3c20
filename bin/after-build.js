'use strict'
const {mkdtempSync, readFileSync, rmSync, writeFileSync} = require('node:fs')
const {tmpdir} = require('node:os')
const {basename, join} = require('node:path')
const v8 = require('node:v8')
const {COMMON, cacheOf, compiled, load, loaded} = require('./load.js')

const [, , step, dist] = process.argv
const program = () => load(join(dist, 'main.js'))

/** Command lines that need what every command needs, and hardly anything else. */
const PLAIN = [['version'], ['token', 'generate']]
/** What else is often seen. */
const LIGHT = [['version', '--output', 'json'], ['--help'], ['init', '--help'], ['nonsense']]

async function writeManifest() {
  writeFileSync(join(dist, COMMON), '({})')
  writeFileSync(join(dist, 'manifest.json'), JSON.stringify(await program().describeProgram()))
}

/** Puts the chunks that a plain command loads into one file: one to find, to read and to compile instead of twenty. */
async function writeCommon() {
  await inSilence(() => runAll(PLAIN))
  const parts = [...loaded.keys()].map((path) => {
    const text = readFileSync(path, 'latin1')
    rmSync(path)
    return `${JSON.stringify(basename(path))}:${text}`
  })
  writeFileSync(join(dist, COMMON), `({${parts.join(',')}})`)
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

/** A whole control plane in this process, on the loopback and in a folder that is removed again. */
async function runServer(listen) {
  const folder = mkdtempSync(join(tmpdir(), 'trustadm-build-'))
  const at = ['--dir', join(folder, 'plane')]
  try {
    const local = ['--bind-address', '127.0.0.1', '--apiserver-bind-port', '0']
    const ready = new Promise((resolve) =>
      listen((text) => text.includes('joinCommand') && resolve(JSON.parse(text))),
    )
    const served = program().main(['init', '--foreground', '-o', 'json', ...local, ...at], dist)
    const made = await Promise.race([ready, served])
    const lines = [['status'], ['certificate', 'check-expiration'], ['token', 'list']]
    await runAll(lines.map((line) => [...line, ...at]))
    const [, ...joining] = made.joinCommand.split(' ')
    const node = ['--dir', join(folder, 'node'), '--node-name', 'build']
    await program().main([...joining, ...node], dist)
    process.kill(process.pid, 'SIGTERM')
    await served
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

/** A script's cache holds the functions that have run by now. One that is written is kept: what runs later would only make it larger. */
function writeCaches(written) {
  for (const [path, {script}] of compiled) {
    if (written.has(path)) continue
    writeFileSync(cacheOf(path), script.createCachedData())
    written.add(path)
  }
}

async function makeCaches() {
  // V8 rejects a cache that was made under other flags than those of the process that reads it.
  v8.setFlagsFromString = () => undefined
  const written = new Set()
  await inSilence(() => runAll(PLAIN))
  writeCaches(written)
  await inSilence(() => runAll(LIGHT))
  writeCaches(written)
  try {
    await inSilence(runServer)
  } catch (error) {
    // A machine on which no server can run still gets a program; it only starts a little slower.
    console.warn(`the server was not warmed up: ${error.message}`)
  }
  // The chunks of all other commands, without what their functions do.
  await program().describeProgram()
  writeCaches(written)
}

const STEPS = {manifest: writeManifest, common: writeCommon, cache: makeCaches}
STEPS[step]().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
