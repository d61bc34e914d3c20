'use strict'
const {readFileSync} = require('node:fs')
const {dirname, sep} = require('node:path')
const {Script} = require('node:vm')

/** The chunks that every command needs, in one file: functions by the names of the chunks. */
const COMMON = 'common.js'

/** The exports of every chunk that was loaded, by its path. */
const loaded = new Map()
/** The functions of chunks that share a file with others, by the paths of the chunks. */
const bundled = new Map()
/** Every file that was compiled, by its path, with its script: the build makes code caches of these. */
const compiled = new Map()

function readIfThere(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/**
 * V8 tells caches apart by its own version only, and crashes on one that another release of Node made with the same V8:
 * so the release is part of the name.
 */
const cacheOf = (path) => `${path}.${process.version}-${process.arch}.cache`

/** Compiles a file, whose text is one expression, with V8's code cache beside it. If there is none for this Node, the text is compiled as ever. */
function evaluate(path) {
  const known = compiled.get(path)
  if (known) return known.value
  // The build writes ASCII only; one byte a character is the fastest to read.
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    cachedData: readIfThere(cacheOf(path)),
  })
  const value = script.runInThisContext()
  compiled.set(path, {script, value})
  return value
}

/** All chunks lie in one folder. `join` takes as long as to load a small chunk, and would be called for each several times. */
const inFolder = (folder, name) => folder + sep + name

/** A chunk's function. The chunks of a file that has several are found in it from then on. */
function functionOf(path) {
  const known = bundled.get(path)
  if (known) return known
  const value = evaluate(path)
  if (typeof value === 'function') return value
  const folder = dirname(path)
  for (const [name, run] of Object.entries(value)) bundled.set(inFolder(folder, name), run)
  return bundled.get(path)
}

/** Loads a chunk of the build, which is one function. */
function load(path) {
  const known = loaded.get(path)
  if (known) return known.exports
  const module = {exports: {}}
  loaded.set(path, module)
  const folder = dirname(path)
  if (bundled.size === 0) functionOf(inFolder(folder, COMMON))
  const requireFrom = (id) =>
    id.startsWith('./') ? load(inFolder(folder, id.slice(2))) : require(id)
  functionOf(path)(module.exports, requireFrom, module, path, folder)
  return module.exports
}

/** Forgets what was loaded, for the build. */
function forget() {
  for (const known of [loaded, bundled, compiled]) known.clear()
}

module.exports = {COMMON, cacheOf, compiled, forget, load, loaded}
