import {spawnSync} from 'node:child_process'
import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {basename, dirname, isAbsolute, join, relative} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build, transform} from 'esbuild'

const root = dirname(fileURLToPath(import.meta.url))
const dist = join(root, 'dist')
const fresh = join(root, `.dist-${process.pid}`)

/** Libraries of oclif whose answers are known here. */
const STAND_INS = {
  // Only asked whether this is Windows' Linux, for a name in oclif's user agent.
  'wsl-utils': 'export const isWsl = false',
  // bin/run.js allows no tracing.
  debug: 'export default () => () => undefined',
  // Only to look for the files of plugins: there are none.
  lilconfig: '',
  minimatch: '',
  tinyglobby: '',
}

const OCLIF = join(root, 'node_modules/@oclif/core/lib')
/** The files of oclif that every command needs. */
const OCLIF_CORE = ['args', 'cache', 'command', 'flags', 'logger']
  .concat(['parser/index', 'parser/parse', 'parser/validate', 'util/aggregate-flags', 'util/util'])
  .map((name) => join(OCLIF, `${name}.js`))
/** The chunk that has all other files that those may need: for help, and for mistakes on the command line. */
const OCLIF_REST = './oclif-rest.js'

/** The name of a library's file, without the folder of this machine. */
const fileIn = (path) => relative(root, path)

const REQUIRE = /(?:const|var) (\w+) = ((?:__import\w+\()?)require\("([^"]+)"\)(\)?);/g

/**
 * oclif loads at its start what few commands need. In its files, everything is loaded when it is first used instead; `rest` are
 * the files that a core file takes from OCLIF_REST.
 */
function lazySource(path) {
  const rest = new Set()
  const contents = readFileSync(path, 'utf8').replace(REQUIRE, (_, name, open, id, close) => {
    const target = id in STAND_INS ? id : createRequire(path).resolve(id)
    const inRest = OCLIF_CORE.includes(path) && isAbsolute(target) && !OCLIF_CORE.includes(target)
    if (inRest) rest.add(target)
    const call = inRest
      ? `require("${OCLIF_REST}").default["${fileIn(target)}"]()`
      : `require("${id}")`
    return `let ${name}_; const ${name} = new Proxy({}, {get: (_, key) => (${name}_ ??= ${open}${call}${close})[key]});`
  })
  return {contents, rest: [...rest]}
}

const lazyOclif = {
  name: 'lazy-oclif',
  setup({onLoad, onResolve}) {
    onResolve({filter: /./}, ({path}) =>
      path in STAND_INS ? {path, namespace: 'stand-in'} : undefined,
    )
    onLoad({filter: /./, namespace: 'stand-in'}, ({path}) => ({contents: STAND_INS[path]}))
    onLoad({filter: /@oclif\/core\/lib\/.*\.js$/}, ({path}) => ({
      contents: lazySource(path).contents,
    }))
    onResolve({filter: /^(\.\/)?oclif-rest/}, ({kind}) =>
      kind === 'entry-point'
        ? {path: OCLIF_REST, namespace: 'rest'}
        : {path: OCLIF_REST, external: true},
    )
    onLoad({filter: /./, namespace: 'rest'}, () => {
      const paths = OCLIF_CORE.flatMap((path) => lazySource(path).rest)
      const entries = [...new Set(paths)].map(
        (path) => `"${fileIn(path)}": () => require("${path}")`,
      )
      return {contents: `module.exports = {${entries.join(', ')}}`, resolveDir: root}
    })
  },
}

/**
 * undici as a whole brings a browser's fetch, cookies and caches, whose start makes Node.js load its own copy of the same. What is
 * used of it here is a fraction; a name that is missing in it ends the build.
 */
const slimUndici = {
  name: 'slim-undici',
  setup({onLoad, onResolve}) {
    onResolve({filter: /^undici$/}, ({path}) => ({path, namespace: 'slim'}))
    onLoad({filter: /.*/, namespace: 'slim'}, () => ({
      contents: `
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
        import Pool from 'undici/lib/dispatcher/pool.js'
        import buildConnector from 'undici/lib/core/connect.js'
        import api from 'undici/lib/api/index.js'
        Object.assign(Dispatcher.prototype, api)
        export {Pool, buildConnector}`,
      resolveDir: root,
    }))
  },
}

const PARSER_MODULE = 'new WebAssembly.Module('
/** What makes V8 optimise a function of WebAssembly: V8's own, by its version, and one that only long work reaches. */
const TIERING_BUDGETS = {version: '11.3.', default: 1_800_000, long: 200_000_000}

/**
 * undici's HTTP parser is one function of WebAssembly, so large that the first response makes V8 optimise it: that takes a fifth of
 * the processor time of a command that sends one request. The budget holds for what is compiled while it is set. It is set back,
 * because V8 rejects code caches that were made under other flags.
 */
const patientParser = {
  name: 'patient-parser',
  setup({onLoad}) {
    onLoad({filter: /\/undici\/lib\/dispatcher\/client-h1\.js$/}, ({path}) => {
      const source = readFileSync(path, 'utf8')
      if (!source.includes(PARSER_MODULE))
        throw new Error(`${fileIn(path)} has no ${PARSER_MODULE}`)
      return {
        contents: `${source.replaceAll(PARSER_MODULE, 'compilePatiently(')}
          function compilePatiently(bytes) {
            if (!process.versions.v8.startsWith('${TIERING_BUDGETS.version}')) return new WebAssembly.Module(bytes)
            const {setFlagsFromString} = require('node:v8')
            setFlagsFromString('--wasm-tiering-budget=${TIERING_BUDGETS.long}')
            try {
              return new WebAssembly.Module(bytes)
            } finally {
              setFlagsFromString('--wasm-tiering-budget=${TIERING_BUDGETS.default}')
            }
          }`,
      }
    })
  },
}

/**
 * lmdb, with a code cache and without the encoder and the decoder that the store does not use: their native part alone takes
 * milliseconds to load. lmdb's own native part is still found from the folder that lmdb is installed in. What tells which C library
 * this is reads that from a file; only if it cannot, it needs Node.js' child_process.
 */
const bundledLmdb = {
  name: 'bundled-lmdb',
  setup({onLoad, onResolve}) {
    onResolve({filter: /^msgpackr$/}, ({path}) => ({path, namespace: 'no-encoder'}))
    onLoad({filter: /./, namespace: 'no-encoder'}, () => ({contents: 'export let Encoder'}))
    onLoad({filter: /\/detect-libc\.js$/}, ({path}) => ({
      contents: readFileSync(path, 'utf8')
        .replace(/const childProcess = .*\n/, '')
        .replaceAll('childProcess.', "require('child_process')."),
    }))
    onLoad({filter: /\/lmdb\/native\.js$/}, ({path}) => ({
      contents: `import {createRequire} from 'node:module'
        ${readFileSync(path, 'utf8').replace(
          'fileURLToPath(import.meta.url)',
          "createRequire(import.meta.url).resolve('lmdb')",
        )}`,
    }))
  },
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/**
 * `import('library')` of a CommonJS library has its exports as names in Node.js, but only as one default in a chunk. A module in
 * between that names each of them makes the bundle behave as the source does.
 */
const namedLazyLibraries = {
  name: 'named-lazy-libraries',
  setup({onLoad, onResolve}) {
    onResolve({filter: /^[^./]/}, ({kind, path}) =>
      kind === 'dynamic-import' && !path.startsWith('node:') && !EXTERNAL.includes(path)
        ? {path, namespace: 'named'}
        : undefined,
    )
    onLoad({filter: /.*/, namespace: 'named'}, async ({path}) => {
      const names = Object.keys(await import(path)).filter((name) => IDENTIFIER.test(name))
      return {
        contents: `export {${names.join(', ')}} from ${JSON.stringify(path)}`,
        resolveDir: root,
      }
    })
  },
}

// oclif would pull in a whole TypeScript for plugins that nobody develops here.
const EXTERNAL = ['typescript', 'ts-node', 'tsx']

/** Chunks as ES modules first: only that format can share code between chunks, so that there is one class TrustError. */
async function bundle() {
  const {outputFiles} = await build({
    entryPoints: [
      {in: join(root, 'src/main.ts'), out: 'main'},
      {in: 'oclif-rest', out: 'oclif-rest'},
    ],
    outdir: fresh,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    mainFields: ['module', 'main'],
    external: EXTERNAL,
    plugins: [lazyOclif, slimUndici, patientParser, bundledLmdb, namedLazyLibraries],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  return outputFiles.map(({path, text}) => ({name: basename(path), text}))
}

const META_URL = 'import_meta_url'

/** Then each chunk as CommonJS, which starts faster and can be given a code cache. */
async function toCommonJs({name, text}) {
  const {code} = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.18',
    supported: {'dynamic-import': false},
    define: {'import.meta.url': META_URL},
    minifyWhitespace: true,
    minifySyntax: true,
  })
  const preamble = code.includes(META_URL)
    ? `const ${META_URL}=require("node:url").pathToFileURL(__filename).href;`
    : ''
  const parameters = 'exports,require,module,__filename,__dirname'
  writeFileSync(join(fresh, name), `(function(${parameters}){${preamble}${code}\n})`)
}

function requireSameVersion() {
  const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const source = readFileSync(join(root, 'src/version.ts'), 'utf8')
  if (source.includes(`VERSION = '${version}'`)) return
  throw new Error(`src/version.ts and package.json (${version}) do not agree`)
}

/**
 * In processes of their own: the manifest of all commands, their common chunks in one file, what V8 has compiled after a warm
 * run, and what `serve` needs in one file.
 */
function finish(step, folder) {
  const {status} = spawnSync(process.execPath, [join(root, 'bin/after-build.js'), step, folder], {
    stdio: 'inherit',
    env: {...process.env, NODE_OPTIONS: ''},
  })
  if (status !== 0) throw new Error(`the build's step "${step}" failed`)
}

rmSync(fresh, {recursive: true, force: true})
mkdirSync(fresh)
try {
  requireSameVersion()
  await Promise.all((await bundle()).map(toCommonJs))
  finish('manifest', fresh)
  finish('common', fresh)
  rmSync(dist, {recursive: true, force: true})
  renameSync(fresh, dist)
  // In its final place: a cache keeps the path that stands in the stack of an error.
  finish('cache', dist)
  finish('server', dist)
} finally {
  rmSync(fresh, {recursive: true, force: true})
}
