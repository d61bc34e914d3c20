import {spawnSync} from 'node:child_process'
import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {basename, dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build, transform} from 'esbuild'

const root = dirname(fileURLToPath(import.meta.url))
const dist = join(root, 'dist')
const fresh = join(root, `.dist-${process.pid}`)

const REQUIRE = /(?:const|var) (\w+) = ((?:__import\w+\()?require\("[^"]+"\)\)?);/g

/** Libraries of oclif whose answers are known here. */
const STAND_INS = {
  // Only asked whether this is Windows' Linux, for a name in oclif's user agent.
  'wsl-utils': 'export const isWsl = false',
  // bin/run.js allows no tracing.
  debug: 'export default () => () => undefined',
}

/** oclif loads at its start what few commands need. In its files, everything is loaded when it is first used instead. */
const lazyOclif = {
  name: 'lazy-oclif',
  setup({onLoad, onResolve}) {
    onResolve({filter: /./}, ({path}) =>
      path in STAND_INS ? {path, namespace: 'stand-in'} : undefined,
    )
    onLoad({filter: /./, namespace: 'stand-in'}, ({path}) => ({contents: STAND_INS[path]}))
    onLoad({filter: /@oclif\/core\/lib\/.*\.js$/}, ({path}) => ({
      contents: readFileSync(path, 'utf8').replace(
        REQUIRE,
        (_, name, expression) =>
          `let ${name}_; const ${name} = new Proxy({}, {get: (_, key) => (${name}_ ??= ${expression})[key]});`,
      ),
    }))
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

// lmdb is native; oclif would pull in a whole TypeScript for plugins that nobody develops here.
const EXTERNAL = ['lmdb', 'typescript', 'ts-node', 'tsx']

/** Chunks as ES modules first: only that format can share code between chunks, so that there is one class TrustError. */
async function bundle() {
  const {outputFiles} = await build({
    entryPoints: [join(root, 'src/main.ts')],
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
    plugins: [lazyOclif, slimUndici, namedLazyLibraries],
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

/** In processes of their own: the manifest of all commands, their common chunks in one file, and what V8 has compiled after a warm run. */
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
} finally {
  rmSync(fresh, {recursive: true, force: true})
}
