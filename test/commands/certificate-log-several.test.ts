import assert from 'node:assert/strict'
import {copyFile, mkdir, readFile, rm, truncate, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {FileIssuanceLog} from '../../src/controllers/signing/file-issuance-log.ts'
import type {LogHead} from '../../src/csr/log-head.ts'
import {run} from '../cli/program.ts'
import {fixedClock, useTemporaryFolder} from '../pki/support.ts'

const issued = (request: string) => ({
  decision: 'issued' as const,
  signer: 'kubernetes.io/kube-apiserver-client',
  request,
  uid: 'u',
  requester: 'ada',
  subject: 'CN=ada',
  names: {dns: [], ips: [], emails: [], uris: []},
})

describe('certificate log of several servers', () => {
  const folder = useTemporaryFolder()
  const one = () => join(folder(), 'one.log')
  /** In the folder of a control plane, with the key there. */
  const two = () => join(folder(), 'two', 'logs', 'issuance.log')
  const keys = () => [`${one()}.key`, join(folder(), 'two', 'issuance.key')]
  const verify = (...words: string[]) => run('certificate', 'log', '--verify', ...words)

  const write = async (file: string, names: string[], known: LogHead[] = []) => {
    const log = new FileIssuanceLog(file, fixedClock(), file === one() ? keys()[0] : keys()[1])
    log.takeOver(
      known.map((head) => ({...head, server: 'plane-0', time: '2026-01-31T12:00:00.000Z'})),
      () => undefined,
    )
    for (const name of names) await log.append(issued(name))
    await log.close()
    assert.ok(log.head)
    return log.head
  }

  /** The first server signs, then the second one, then the first again. */
  let ends: [LogHead, LogHead, LogHead]
  beforeEach(async () => {
    await mkdir(dirname(two()), {recursive: true, mode: 0o700})
    const first = await write(one(), ['a', 'b'])
    const second = await write(two(), ['c'], [first])
    ends = [first, second, await write(one(), ['d'], [second])]
  })

  it('is checked with the keys of all, and prints all heads', async () => {
    const {stdout, stderr, exit} = await verify(one(), two())
    assert.equal(exit, 0, stderr)
    assert.equal(stdout.match(/the chain is unbroken and written with the key/g)?.length, 2)
    assert.doesNotMatch(stdout, /not checked/)
    const named = await verify(one(), two(), '--output', 'name')
    assert.equal(named.stdout, `${ends[2].hash}\n${ends[1].hash}\n`)
  })

  it('says which logs it knows of and has not checked', async () => {
    const {stdout, exit} = await verify(two())
    assert.equal(exit, 0)
    const shown = stdout.replaceAll(/\s+/g, ' ')
    assert.match(shown, new RegExp(`not checked: a log of plane-0, .*the line ${ends[0].hash}`))
    const json = JSON.parse((await verify(two(), '--output', 'json')).stdout) as {
      others: LogHead[]
    }
    assert.deepEqual(
      json.others.map(({hash}) => hash),
      [ends[0].hash],
    )
  })

  it('finds a log that was cut, which the file alone does not show', async () => {
    const [before] = (await readFile(one(), 'utf8')).split('\n')
    await truncate(one(), Buffer.byteLength(`${before ?? ''}\n`))
    assert.equal((await verify(one())).exit, 0)
    const {stderr, exit} = await verify(one(), two())
    assert.equal(exit, 3)
    const shown = stderr.replaceAll(/\s+/g, ' ')
    assert.match(shown, /one\.log was cut off: it ends at byte \d+, but line 1 of .*issuance\.log/)
    assert.ok(shown.includes(ends[0].hash))
  })

  it('finds a log that was cut and continued', async () => {
    const [before] = (await readFile(one(), 'utf8')).split('\n')
    await truncate(one(), Buffer.byteLength(`${before ?? ''}\n`))
    await write(one(), ['other', 'more'])
    const {stderr, exit} = await verify(one(), two())
    assert.equal(exit, 3)
    assert.match(stderr.replaceAll(/\s+/g, ' '), /one\.log was forked or rewritten: line 1 of/)
  })

  it('finds that two copies of one log differ, and takes an older copy', async () => {
    const copy = join(folder(), 'copy.log')
    await copyFile(one(), copy)
    await write(one(), ['e'])
    await copyFile(`${one()}.key`, `${copy}.key`)
    assert.equal((await verify(one(), copy, two())).exit, 0)
    const forked = new FileIssuanceLog(copy, fixedClock())
    await forked.append(issued('f'))
    await forked.append(issued('g'))
    await forked.close()
    const {stderr, exit} = await verify(one(), copy, two())
    assert.equal(exit, 3)
    assert.match(stderr.replaceAll(/\s+/g, ' '), /begin with the same line and differ later/)
  })

  it('finds a line that its own signer has missed', async () => {
    const lost = {...ends[2], size: ends[2].size + 5000, hash: 'e'.repeat(64)}
    const log = new FileIssuanceLog(one(), fixedClock())
    await log.note({decision: 'lost', reason: 'the node n has seen it', heads: [lost]})
    await log.close()
    const {stderr, exit} = await verify(one())
    assert.equal(exit, 3)
    assert.match(stderr.replaceAll(/\s+/g, ' '), /one\.log was cut off/)
  })

  it('checks hashes and names without the keys, with a warning', async () => {
    for (const key of keys()) await rm(key)
    const {stderr, exit} = await verify(one(), two())
    assert.equal(exit, 0)
    assert.equal(stderr.match(/there is no key/g)?.length, 2)
  })

  it('looks for a head in all of them, also as a node has kept it', async () => {
    const [{chain, size, hash}] = ends
    const kept = `${chain}:${size}:${hash}:${'0'.repeat(32)}`
    for (const head of [hash, kept]) {
      assert.equal((await run('certificate', 'log', two(), one(), '--head', head)).exit, 0)
    }
    const {stderr, exit} = await run('certificate', 'log', two(), '--head', hash)
    assert.equal(exit, 3)
    assert.match(stderr, /has the hash/)
  })

  it('prints the newest heads without a check', async () => {
    await writeFile(join(folder(), 'empty.log'), '')
    const files = [one(), two(), join(folder(), 'empty.log')]
    const {stdout, exit} = await run('certificate', 'log', ...files, '--heads', '--output', 'json')
    assert.equal(exit, 0)
    const text = ({chain, size, hash}: LogHead) => `${chain}:${size}:${hash}`
    assert.deepEqual(
      (JSON.parse(stdout) as {heads: {head: string | null}[]}).heads.map(({head}) => head),
      [text(ends[2]), text(ends[1]), null],
    )
  })

  it('refuses what makes no sense for several logs', async () => {
    assert.equal((await run('certificate', 'log', one(), two())).exit, 2)
    assert.equal((await verify(one(), two(), '--key', keys()[0] ?? '')).exit, 2)
  })
})
