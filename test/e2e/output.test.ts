import assert from 'node:assert/strict'
import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {connect} from '../../src/client/connect.ts'
import {encodeLine, NO_LINE} from '../../src/controllers/signing/log-line.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {PROGRAM, sharedCluster} from '../helpers/cluster.ts'

/** More than any pipe holds. */
const LINES = 6_000

const TIME = new Date('2026-01-01T00:00:00Z')

/** An issuance log of such a size. */
function issuanceLog(): string {
  const key = Buffer.alloc(32)
  const lines: string[] = []
  let prev = NO_LINE
  for (let number = 0; number < LINES; number += 1) {
    const encoded = encodeLine(TIME, {decision: 'recovered', reason: `line ${number}`}, prev, key)
    lines.push(encoded.line)
    prev = encoded.hash
  }
  return lines.join('')
}

describe('what the program prints', function () {
  this.timeout(60_000)
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-output-'))
    await writeFile(join(folder, 'issuance.log'), issuanceLog())
  })
  after(() => rm(folder, {recursive: true, force: true}))

  /** Runs a line of a shell. `$trustadm` is the program, whose exit code is in the file "code" if `$code` follows it. */
  async function shell(line: string): Promise<{code: string; stdout: string; stderr: string}> {
    const trustadm = `${process.execPath} ${PROGRAM}`
    const env = {...process.env, trustadm, log: 'certificate log issuance.log'}
    const said = await promisify(execFile)('bash', ['-c', line], {
      cwd: folder,
      env,
      maxBuffer: 64 * 1024 * 1024,
    })
    return {...said, code: (await readFile(join(folder, 'code'), 'utf8')).trim()}
  }
  const whole = async (format: string) => {
    await shell(`$trustadm $log -o ${format} > whole; echo $? > code`)
    return await readFile(join(folder, 'whole'), 'utf8')
  }

  for (const format of ['json', 'yaml', 'table']) {
    it(`is whole at the end of a pipe, however much it is, as ${format}`, async () => {
      const {code, stdout} = await shell(`{ $trustadm $log -o ${format}; echo $? > code; } | cat`)
      assert.ok(stdout.length > 512 * 1024, String(stdout.length))
      assert.equal(stdout, await whole(format))
      assert.equal(code, '0')
    })
  }

  it('is whole for a reader that takes a few bytes at a time', async () => {
    const {code, stdout} = await shell(
      '{ $trustadm $log; echo $? > code; } | dd bs=256 status=none',
    )
    assert.equal(stdout, await whole('table'))
    assert.equal(code, '0')
  })

  it('is whole on the standard error too', async () => {
    const {line} = encodeLine(TIME, {decision: 'keyed', reason: ''}, NO_LINE, Buffer.alloc(32))
    await writeFile(join(folder, 'keyed.log'), line)
    const warnOften = '$trustadm certificate log --verify $(yes keyed.log | head -1500)'
    await shell(`${warnOften} 2> whole > rest; echo $? > code`)
    // Read when all of it was said: the result is printed last.
    const late = '{ until test -s result; do sleep 0.01; done; cat; }'
    const {code, stdout} = await shell(`{ ${warnOften} 2>&1 > result; echo $? > code; } | ${late}`)
    const expected = await readFile(join(folder, 'whole'), 'utf8')
    assert.ok(expected.length > 128 * 1024, String(expected.length))
    assert.equal(stdout, expected)
    assert.equal(code, '0')
  })

  for (const reader of ['true', 'head -1']) {
    it(`ends quietly, and with its own exit code, once its reader "${reader}" has gone`, async () => {
      const {code, stderr} = await shell(`{ $trustadm $log; echo $? > code; } | ${reader}`)
      assert.deepEqual({code, stderr}, {code: '0', stderr: ''})
    })
  }

  for (const command of ['$log', '$log -o json', '--help', '--version', "__complete ''"]) {
    it(`fails with a message on a full device: ${command}`, async () => {
      const {code, stderr} = await shell(`$trustadm ${command} > /dev/full; echo $? > code`)
      assert.match(stderr, /cannot write the standard output: the disk is full/)
      assert.equal(code, '1')
    })
  }

  it('fails with a message on a disk that has room for only a part', async () => {
    const {code, stderr} = await shell('(ulimit -f 20; $trustadm $log > part); echo $? > code')
    assert.match(stderr, /cannot write the standard output: the file would be too large/)
    assert.equal(code, '1')
  })

  it('fails, though nobody can be told, on a full device for the standard error too', async () => {
    const {code} = await shell('$trustadm $log > /dev/full 2>&1; echo $? > code')
    assert.equal(code, '1')
  })

  it('ends a watch whose reader has gone', async () => {
    const {kubeconfig} = await sharedCluster()
    const client = await connect(kubeconfig)
    const request = async (name: string) => {
      const pem = await createPlainRequest({commonName: name}, await generateKeys())
      await client.csrs.create({
        metadata: {name},
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: 'example.com/output',
          usages: ['client auth'],
        },
      })
    }
    await request('read')
    const args = ['certificate', 'list', '--watch', '-o', 'json', '--kubeconfig', kubeconfig]
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.stdout.destroy()
    await request('not-read')
    assert.deepEqual(await ended, [0, null])
    await client.close()
  })
})
