import assert from 'node:assert/strict'
import {closeSync, openSync, writeSync} from 'node:fs'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {keepOwnLogShort} from '../../src/control-plane/own-log.ts'

describe('the log of the background server', () => {
  let dir = ''
  let descriptor = -1
  const path = (more = '') => join(dir, 'logs', `server.log${more}`)
  const line = (name: string) => `${name} ${'x'.repeat(60)}\n`

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-log-'))
    await mkdir(join(dir, 'logs'))
    descriptor = openSync(path(), 'a', 0o600)
  })
  afterEach(async () => {
    closeSync(descriptor)
    await rm(dir, {recursive: true})
  })

  it('is put aside when it has grown too long, and so many files are kept', async () => {
    const afterLine = keepOwnLogShort({dir}, {descriptor, maxBytes: 150, files: 3})
    for (let number = 0; number < 13; number++) {
      writeSync(descriptor, line(`line-${number}`))
      afterLine()
    }
    assert.deepEqual(await readdir(join(dir, 'logs')), [
      'server.log',
      'server.log.1',
      'server.log.2',
    ])
    const text = await Promise.all(['.2', '.1', ''].map((more) => readFile(path(more), 'utf8')))
    assert.equal(text.join(''), [6, 7, 8, 9, 10, 11, 12].map((n) => line(`line-${n}`)).join(''))
  })

  it('is emptied if there is no way to put it aside', async () => {
    await mkdir(path('.1'))
    await writeFile(join(path('.1'), 'in the way'), '')
    await mkdir(path('.2'))
    await writeFile(join(path('.2'), 'in the way'), '')
    const afterLine = keepOwnLogShort({dir}, {descriptor, maxBytes: 100})
    for (let number = 0; number < 3; number++) {
      writeSync(descriptor, line(`line-${number}`))
      afterLine()
    }
    assert.equal(await readFile(path(), 'utf8'), line('line-2'))
  })

  it('is left alone if the standard error is another file', async () => {
    const other = openSync(join(dir, 'other'), 'a')
    const afterLine = keepOwnLogShort({dir}, {descriptor: other, maxBytes: 10})
    writeSync(other, line('kept'))
    afterLine()
    closeSync(other)
    assert.equal(await readFile(join(dir, 'other'), 'utf8'), line('kept'))
  })
})
