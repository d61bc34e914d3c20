import assert from 'node:assert/strict'
import {mkdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {headWitness} from '../../src/node/head-witness.ts'
import {useTemporaryFolder} from '../pki/support.ts'

const HEAD = {chain: 'a'.repeat(64), size: 9, hash: 'b'.repeat(64), seal: 'c'.repeat(32)}

describe('what a node keeps of the issuance log', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'issuance-head')

  it('is what it got with its last certificate', async () => {
    const witness = headWitness(folder())
    assert.equal(await witness.seen(), undefined)
    await witness.keep(HEAD)
    await witness.keep({...HEAD, size: 10})
    assert.equal((await headWitness(folder()).seen())?.size, 10)
    assert.equal((await stat(file())).mode & 0o777, 0o600)
  })

  it('stays if a signer gives nothing', async () => {
    const witness = headWitness(folder())
    await witness.keep(HEAD)
    await witness.keep(undefined)
    assert.deepEqual(await witness.seen(), HEAD)
  })

  it('is nothing if the file has something else, and is written again', async () => {
    const witness = headWitness(folder())
    for (const content of ['rubbish', '', 'x'.repeat(5000)]) {
      await writeFile(file(), content, {mode: 0o600})
      assert.equal(await witness.seen(), undefined)
    }
    await witness.keep(HEAD)
    assert.match(await readFile(file(), 'utf8'), /^a{64}:9:b{64}:c{32}\n$/)
  })

  it('never fails a renewal', async () => {
    await mkdir(file())
    const witness = headWitness(folder())
    assert.equal(await witness.seen(), undefined)
    await witness.keep(HEAD)
  })
})
