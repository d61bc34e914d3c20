'use strict'
const {readFileSync} = require('node:fs')
const {dirname, join} = require('node:path')
const {Script} = require('node:vm')

/** Every chunk that was loaded, by its path, with its script: the build makes code caches of these. */
const loaded = new Map()

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

/**
 * Loads a chunk of the build, which is one function, with V8's code cache beside it, which the build made of the very same
 * text. Where there is none for this Node, the text is compiled as ever.
 */
function load(path) {
  const known = loaded.get(path)
  if (known) return known.module.exports
  // The build writes ASCII only; one byte a character is the fastest to read.
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    cachedData: readIfThere(cacheOf(path)),
  })
  const module = {exports: {}}
  loaded.set(path, {module, script})
  const folder = dirname(path)
  const requireFrom = (id) => (id.startsWith('./') ? load(join(folder, id)) : require(id))
  script.runInThisContext()(module.exports, requireFrom, module, path, folder)
  return module.exports
}

module.exports = {cacheOf, load, loaded}
