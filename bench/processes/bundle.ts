import {mkdtemp, rm} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build} from 'esbuild'

const {resolve} = createRequire(import.meta.url)

const built = new Map<string, Promise<string>>()
const folder = mkdtemp(join(tmpdir(), 'trustadm-bench-'))

/** A program as the released one is made: a loader of TypeScript would be measured along with it. */
export async function bundled(program: string): Promise<string> {
  const known = built.get(program) ?? bundle(program)
  built.set(program, known)
  return known
}

/** Called once nothing that was built runs any longer. */
export async function removeBundles(): Promise<void> {
  await rm(await folder, {recursive: true, force: true})
}

async function bundle(program: string): Promise<string> {
  const outfile = join(await folder, `${program}.mjs`)
  await build({
    entryPoints: [fileURLToPath(new URL(`${program}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    mainFields: ['module', 'main'],
    banner: {
      js: "import {createRequire as requireFrom} from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [
      {
        name: 'native libraries stay where they are',
        setup: ({onResolve}) =>
          onResolve({filter: /^lmdb$/}, ({path}) => ({path: resolve(path), external: true})),
      },
    ],
    logLevel: 'warning',
  })
  return outfile
}
