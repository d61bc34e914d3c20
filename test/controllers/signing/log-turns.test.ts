import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import {readLogKey} from '../../../src/controllers/signing/log-key.ts'
import {asCommand, signerTurn} from '../../../src/controllers/signing/log-turns.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {systemClock} from '../../../src/runtime.ts'
import {until} from '../../server/support.ts'

const alive = () => Promise.resolve(true)
const dead = () => Promise.resolve(false)

describe('an issuance log that a signer and a command write to', () => {
  let folder = ''
  let path = ''
  let turns = ''
  let signer: FileIssuanceLog
  const note = (reason: string) => ({decision: 'restored', reason}) as const
  const command = (isSignerAlive = alive, reason = 'by the command') =>
    asCommand(turns, isSignerAlive, async () => {
      const log = new FileIssuanceLog(path, systemClock)
      await log.note(note(reason))
      await log.close()
    })
  const reasons = async () =>
    (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as {reason: string}).reason)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-log-turns-'))
    path = join(folder, 'issuance.log')
    turns = join(folder, 'turns')
    await mkdir(turns)
    signer = new FileIssuanceLog(path, systemClock, `${path}.key`, () => signerTurn(turns))
  })
  afterEach(async () => {
    await signer.close()
    await rm(folder, {recursive: true, force: true})
  })

  it('stays one chain, whoever writes when', async () => {
    const signing = async () => {
      for (let line = 0; line < 100; line++) await signer.note(note(`signer ${line}`))
    }
    const commands = async (name: string) => {
      for (let line = 0; line < 5; line++) await command(alive, `${name} ${line}`)
    }
    await Promise.all([signing(), commands('one'), commands('two')])
    const {count} = await readLog(path, {key: await readLogKey(`${path}.key`)})
    assert.equal(count, 110)
    assert.equal(new Set(await reasons()).size, 110)
    assert.deepEqual(
      [existsSync(join(turns, 'wanted')), existsSync(join(turns, 'writing'))],
      [false, false],
    )
  })

  it('has the line of the command before that of a signer that waited for it', async () => {
    await signer.note(note('first'))
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (go = resolve))
    let isWriting = false
    const writing = asCommand(turns, alive, async () => {
      isWriting = true
      await gate
      const log = new FileIssuanceLog(path, systemClock)
      await log.note(note('command'))
      await log.close()
    })
    await until(() => isWriting)
    const signing = signer.note(note('signer'))
    await until(() => !existsSync(join(turns, 'writing')))
    assert.deepEqual(await reasons(), ['first'])
    go()
    await Promise.all([writing, signing])
    assert.deepEqual(await reasons(), ['first', 'command', 'signer'])
  })

  it('lets a command wait while a signer that lives writes', async () => {
    await signer.note(note('first'))
    await writeFile(join(turns, 'writing'), '')
    let asked = 0
    const writing = command(() => {
      asked += 1
      return Promise.resolve(true)
    })
    await until(() => asked > 2)
    assert.deepEqual(await reasons(), ['first'])
    await rm(join(turns, 'writing'))
    await writing
    assert.deepEqual(await reasons(), ['first', 'by the command'])
  })

  it('is held up by nothing that a killed process has left', async () => {
    await writeFile(join(turns, 'writing'), '')
    await command(dead)
    await writeFile(join(turns, 'wanted'), '')
    await signer.note(note('signer'))
    assert.deepEqual(await reasons(), ['by the command', 'signer'])
  })
})
