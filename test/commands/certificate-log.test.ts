import assert from 'node:assert/strict'
import {copyFile, mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {FileIssuanceLog} from '../../src/controllers/signing/file-issuance-log.ts'
import {run} from '../cli/program.ts'
import {fixedClock, useTemporaryFolder} from '../pki/support.ts'

interface Report {
  head: string
  entries: {request: string; hash: string}[]
}

const ISSUED = {
  decision: 'issued' as const,
  signer: 'kubernetes.io/kube-apiserver-client',
  uid: 'u',
  requester: 'ada',
  subject: 'CN=ada',
  names: {dns: ['ada.example.com'], ips: [], emails: [], uris: []},
}

describe('certificate log', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'logs', 'issuance.log')
  const key = () => join(folder(), 'issuance.key')
  const show = (...flags: string[]) => run('certificate', 'log', '--dir', folder(), ...flags)
  const report = async () => JSON.parse((await show('--output', 'json')).stdout) as Report

  beforeEach(async () => {
    await mkdir(join(folder(), 'logs'))
    const log = new FileIssuanceLog(file(), fixedClock(), key())
    await log.append({
      ...ISSUED,
      request: 'first',
      issuer: 'CN=kubernetes',
      serial: '1f',
      fingerprint: 'ab12',
      notAfter: '2027-03-01T12:00:00.000Z',
    })
    await log.append({
      ...ISSUED,
      decision: 'refused',
      request: 'second',
      reason: 'it is\u001b[2J odd',
    })
    await log.close()
  })

  it('prints a line a certificate, and nothing that moves the cursor', async () => {
    const {stdout, exit} = await show()
    assert.equal(exit, 0)
    assert.match(stdout, /^TIME +DECISION +SIGNER +REQUEST +REQUESTER +SUBJECT +EXPIRES +REASON\n/)
    assert.match(stdout, /issued +kubernetes\.io\/kube-apiserver-client +first +ada +CN=ada +2027/)
    assert.match(stdout, /refused .*it is/)
    assert.ok(!stdout.includes('\u001b'))
  })

  it('prints names, issuer, serial number and fingerprint where there is room', async () => {
    const {stdout} = await show('--output', 'wide')
    assert.match(stdout, /ada\.example\.com +CN=kubernetes +1f +ab12 +[0-9a-f]{64}/)
  })

  it('prints names alone', async () => {
    const {stdout} = await show('--output', 'name')
    assert.equal(stdout, `first\nsecond\n`)
  })

  it('says that the chain is unbroken, and its head', async () => {
    const {head} = await report()
    const {stdout, exit} = await show('--verify')
    assert.equal(exit, 0)
    assert.equal(
      stdout,
      `${file()}: 2 lines, the chain is unbroken and written with the key of the log\nhead ${head}\n`,
    )
  })

  it('ends with 3 where the log was rewritten as a whole by somebody without its key', async () => {
    await rename(key(), `${key()}.of-another`)
    const log = new FileIssuanceLog(`${file()}.theirs`, fixedClock())
    await log.append({...ISSUED, request: 'theirs'})
    await log.close()
    await rename(`${file()}.theirs`, file())
    await rename(`${key()}.of-another`, key())
    const {stderr, exit} = await show('--verify')
    assert.equal(exit, 3)
    assert.match(stderr, /line 1 of .*: it was not written with the key of this log/)
  })

  it('ends with 3 where the key of a control plane is gone, and checks a copy without it with a warning', async () => {
    const elsewhere = join(folder(), 'copy.log')
    await copyFile(file(), elsewhere)
    const copied = await run('certificate', 'log', '--file', elsewhere, '--verify')
    assert.equal(copied.exit, 0)
    assert.match(copied.stderr, /there is no key .*could have written all of it/)
    assert.doesNotMatch(copied.stdout, /with the key/)
    const withKey = await run('certificate', 'log', '--file', elsewhere, '--key', key(), '--verify')
    assert.match(withKey.stdout, /written with the key of the log/)
    await rm(key())
    const {stderr, exit} = await show('--verify')
    assert.equal(exit, 3)
    assert.match(stderr, /its key .* is missing/)
  })

  it('ends with 3 and says where the chain breaks', async () => {
    const text = await readFile(file(), 'utf8')
    await writeFile(file(), text.replace('"request":"second"', '"request":"sacond"'))
    const {stderr, exit} = await show('--verify')
    assert.equal(exit, 3)
    assert.match(stderr, /line 2 of .*: it was changed/)
  })

  it('shows the lines of a broken log all the same, with a warning', async () => {
    const text = await readFile(file(), 'utf8')
    await writeFile(file(), text.split('\n').slice(1).join('\n'))
    const {stdout, stderr, exit} = await show()
    assert.equal(exit, 0)
    assert.match(stdout, /second/)
    assert.match(stderr, /the issuance log is broken: line 1 of /)
  })

  it('ends with 3 where a head that was known is gone', async () => {
    const {head, entries} = await report()
    assert.equal((await show('--head', entries[0]?.hash.toUpperCase() ?? '')).exit, 0)
    const text = await readFile(file(), 'utf8')
    await writeFile(file(), `${text.split('\n')[0] ?? ''}\n`)
    assert.equal((await show('--verify')).exit, 0)
    const {stderr, exit} = await show('--head', head)
    assert.equal(exit, 3)
    assert.match(stderr, new RegExp(`has the hash ${head}`))
  })

  it('warns of a line that is not whole', async () => {
    const text = await readFile(file(), 'utf8')
    await writeFile(file(), text.slice(0, -4))
    const {stderr, exit} = await show('--verify')
    assert.equal(exit, 0)
    assert.match(stderr, /ends with an incomplete line of \d+ bytes/)
  })

  it('refuses a head that is no hash, and a log that is not there', async () => {
    assert.equal((await show('--head', 'abc')).exit, 2)
    const {stderr, exit} = await run('certificate', 'log', '--file', join(folder(), 'none'))
    assert.equal(exit, 1)
    assert.match(stderr, /cannot read .*none.*\nTry this: check the path/)
  })

  it('takes a head as --heads prints it', async () => {
    const {stdout} = await show('--heads', '--output', 'name')
    assert.match(stdout, /^[0-9a-f]{64}:\d+:[0-9a-f]{64}\n$/)
    assert.equal((await show('--head', stdout.trim())).exit, 0)
    assert.equal((await show('--heads')).stdout, `${file()}:\n${stdout}`)
  })

  it('does not call a damaged log an empty one', async () => {
    for (const text of ['garbage\n', 'half a line']) {
      await writeFile(file(), text)
      const {stderr} = await show()
      assert.match(stderr, /broken|incomplete/)
      assert.doesNotMatch(stderr, /nothing was issued/)
    }
    await writeFile(file(), '')
    assert.match((await show()).stderr, /^nothing was issued or refused yet/)
  })

  it('has no head of a log whose first line was changed, and says how to look at it', async () => {
    const text = await readFile(file(), 'utf8')
    await writeFile(file(), text.replace('"request":"first"', '"request":"furst"'))
    const {stderr, exit} = await show('--heads')
    assert.equal(exit, 3)
    assert.match(
      stderr,
      /the first line of .* was changed\nTry this: .*log --verify .*issuance\.log/,
    )
  })
})
