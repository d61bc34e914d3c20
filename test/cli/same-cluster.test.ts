import assert from 'node:assert/strict'
import {resolve} from 'node:path'
import {clusterCommand, forSameCluster} from '../../src/cli/same-cluster.ts'
import {elsewhere, type Hint} from '../../src/errors.ts'
import {defaultDir} from '../../src/fs/default-folders.ts'
import {describedCommands, run} from './program.ts'

const completed = async (line: string, hint: Hint): Promise<string> => {
  const manifest = await describedCommands()
  return forSameCluster(line.split(' '), () => manifest)(hint)
}

describe('a command in a hint', () => {
  const cases: readonly {line: string; hint: string; becomes: string}[] = [
    {
      line: 'ca rotate complete --dir /srv/plane',
      hint: 'begin one with "trustadm ca rotate start"; see "trustadm ca rotate status"',
      becomes:
        'begin one with "trustadm ca rotate start --dir /srv/plane"; see "trustadm ca rotate status --dir /srv/plane"',
    },
    {
      line: 'token delete abcdef --dir=/srv/plane',
      hint: 'list the tokens with "trustadm token list"',
      becomes: 'list the tokens with "trustadm token list --dir /srv/plane"',
    },
    {
      line: 'csr show a --kubeconfig a.conf --context b',
      hint: 'list them with "trustadm certificate list --revoked"',
      becomes:
        'list them with "trustadm certificate list --revoked --kubeconfig a.conf --context b"',
    },
    {
      line: 'csr show a --kubeconfig a.conf --cluster c --user ada',
      hint: 'list them with "trustadm certificate list"',
      becomes:
        'list them with "trustadm certificate list --kubeconfig a.conf --cluster c --user ada"',
    },
    {
      line: 'certificate request --kubeconfig a.conf --user ada',
      hint: 'see "trustadm certificate list" or "trustadm certificate request --force"',
      becomes:
        'see "trustadm certificate list --kubeconfig a.conf" or "trustadm certificate request --force --kubeconfig a.conf"',
    },
    {
      line: 'certificate list --kubeconfig a.conf --user ada',
      hint: 'get one with "trustadm certificate request --user bob --wait"',
      becomes: 'get one with "trustadm certificate request --user bob --wait --kubeconfig a.conf"',
    },
    {
      line: 'serve --dir plane',
      hint: 'run "trustadm init" to create what is missing',
      becomes: `run "trustadm init --dir ${resolve('plane')}" to create what is missing`,
    },
  ]
  for (const {line, hint, becomes} of cases) {
    it(`is for the same cluster as trustadm ${line}`, async () => {
      assert.equal(await completed(line, hint), becomes)
    })
  }

  const kept: readonly [string, string, string][] = [
    ['without flags', 'token list', 'create one with "trustadm token create"'],
    ['with the default folder', `token list --dir ${defaultDir()}`, '"trustadm token create"'],
    ['if it names a folder', 'start --dir /srv/a', '"trustadm init --dir /srv/b"'],
    ['without such a flag', 'init --dir /srv/a', 'use one from "trustadm token generate"'],
    ['with another meaning of --dir', 'status --dir /srv/a', 'run "trustadm node renew" there'],
    ['for the node of a machine', 'join --dir /srv/n', 'check it with "trustadm token list"'],
    ['without --kubeconfig', 'token list --kubeconfig a', 'run "trustadm init phase cluster-info"'],
  ]
  for (const [name, line, hint] of kept) {
    it(`is kept ${name}`, async () => {
      assert.equal(await completed(line, hint), hint)
    })
  }

  it('gets no files of this machine if it is for another one', async () => {
    const hint = elsewhere('see "trustadm token list" there')
    assert.equal(
      await completed('token list --kubeconfig a', hint),
      'see "trustadm token list" there',
    )
    assert.equal(
      await completed('token list --dir /srv/plane --kubeconfig a', hint),
      'see "trustadm token list --dir /srv/plane" there',
    )
  })

  it('is completed in what the program prints, also with the flag before the command', async () => {
    const {stderr} = await run('--dir', '/nowhere/plane', 'ca', 'list')
    assert.match(stderr.replaceAll(/\s+/g, ' '), /"trustadm init --dir \/nowhere\/plane"/)
  })

  it('is made from the flags of a command', () => {
    assert.equal(clusterCommand({dir: '/srv/a b'}, 'status'), `trustadm status --dir '/srv/a b'`)
    assert.equal(clusterCommand({dir: defaultDir()}, 'status'), 'trustadm status')
    assert.equal(clusterCommand({}, 'status'), 'trustadm status')
    const cluster = {kubeconfig: 'a b', context: 'c', cluster: 'd', user: 'e'}
    assert.equal(
      clusterCommand(cluster, 'token list'),
      "trustadm token list --kubeconfig 'a b' --context c --cluster d --user e",
    )
  })
})
