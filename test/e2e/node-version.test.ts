import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {transform} from 'esbuild'
import {PROGRAM, type Ended} from '../helpers/program.ts'

describe('an old release of Node.js', () => {
  let folder = ''
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'trustadm-old-node-'))))
  after(() => rm(folder, {recursive: true, force: true}))

  /** The program in a Node.js that calls itself another version. */
  const runAs = async (version: string): Promise<Ended> => {
    const disguise = join(folder, `${version}.cjs`)
    const versions = `{...process.versions, node: '${version}'}`
    await writeFile(disguise, `Object.defineProperty(process, 'versions', {value: ${versions}})`)
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ['--require', disguise, PROGRAM, 'version'],
        (error, stdout, stderr) =>
          resolve({code: error === null ? 0 : Number(error.code), stdout, stderr}),
      )
    })
  }

  for (const version of ['18.20.8', '20.18.0', '16.0.0', '8.17.0']) {
    it(`is told at once that another one is needed: ${version}`, async () => {
      const {code, stdout, stderr} = await runAs(version)
      assert.deepEqual([code, stdout], [1, ''])
      assert.equal(
        stderr,
        `Error: trustadm needs Node.js 20.18.1 or newer; this is ${version}\nTry this: install Node.js 20 or newer, and run the command again\n`,
      )
    })
  }

  for (const version of ['20.18.1', '22.0.0', '100.0.0']) {
    it(`is not ${version}`, async () => assert.equal((await runAs(version)).code, 0))
  }

  it('can read the file that tells it', async () => {
    const source = await readFile(PROGRAM, 'utf8')
    const [plain, old] = await Promise.all(
      ['esnext', 'es5'].map(async (target) => (await transform(source, {target})).code),
    )
    assert.equal(old, plain)
  })

  it('is named in package.json as well', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
    const {engines} = JSON.parse(text) as {engines: {node: string}}
    assert.equal(engines.node, '>=20.18.1')
  })
})
