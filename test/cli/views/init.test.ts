import assert from 'node:assert/strict'
import {defaultDir} from '../../../src/fs/default-folders.ts'
import {initView} from '../../../src/cli/views/init.ts'

const result = (dir: string, joinCommand: string | null = null) => ({
  endpoint: 'https://10.0.0.1:6443',
  caCertHashes: ['sha256:1', 'sha256:2'],
  token: null,
  joinCommand,
  certificateKey: null,
  controlPlaneJoinCommand: null,
  kubeconfig: `${dir}/admin.conf`,
  dir,
})

const told = async (isRunning: boolean, ...[dir, joinCommand]: Parameters<typeof result>) =>
  await initView(isRunning).table(result(dir, joinCommand))

describe('what init tells in the end', () => {
  it('names the folder in commands only if it is not the usual one', async () => {
    assert.match(await told(true, defaultDir()), /^Check it: +trustadm status$/m)
    assert.match(await told(true, '/srv/a b'), /^Check it: +trustadm status --dir '\/srv\/a b'$/m)
  })

  it('has the join line on one line, or how to get one', async () => {
    const line = `trustadm join 10.0.0.1:6443 ${'--token x '.repeat(20)}`.trim()
    assert.ok((await told(true, '/srv', line)).endsWith(`\n\n${line}\n`))
    assert.match(await told(true, '/srv'), /token create --print-join-command --dir \/srv\n$/)
  })

  it('has the certificate key also if no command has it', async () => {
    const made = {...result('/srv'), certificateKey: 'aabbcc'}
    assert.match(await initView(true).table(made), /certificate key:\n\naabbcc\n$/)
    const line = 'trustadm join --control-plane --certificate-key aabbcc'
    const text = await initView(true).table({...made, controlPlaneJoinCommand: line})
    assert.equal(text.split('aabbcc').length, 2)
    assert.match(text, /needs\netcd as the store/)
  })

  it('does not call a server ready that does not run', async () => {
    const text = await told(false, '/srv')
    assert.doesNotMatch(text, /ready/)
    assert.match(text, /^Start it: +trustadm init --dir \/srv$/m)
  })

  it('lists every pin below the first', async () => {
    assert.match(await told(true, '/srv'), /^ {2}CA pin {7}sha256:1\n {15}sha256:2\n/m)
  })
})
