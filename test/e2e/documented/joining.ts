import assert from 'node:assert/strict'
import {stat} from 'node:fs/promises'
import {until} from '../../server/support.ts'
import type {Stage} from './stage.ts'
import {must, step, type Step} from './step.ts'

const JOIN = 'trustadm join 10.0.0.1:6443 --token … --discovery-token-ca-cert-hash sha256:…'
const YES = 'y\r'
const DOWN = '\u001B[B'
const worker = {host: 'worker-1'}
const again = {host: 'worker-1', folder: 'worker-1-again'}
const last = {host: 'worker-1', folder: 'worker-1-last'}
const seven = {host: 'node-7'}

/** The pin of the key that waits for the name of another. */
async function waitingPin(stage: Stage): Promise<string> {
  await until(async () =>
    (await stage.client.csrs.list()).items.some(({status}) => !status?.conditions?.length),
  )
  const listed = JSON.parse(
    await must(stage, 'trustadm certificate list --state pending -o json'),
  ) as {requests: {request: {key: {pin: string}}}[]}
  return listed.requests[0]?.request.key.pin ?? ''
}

export const joining: Step[] = [
  step('trustadm init', {shows: /The control plane is ready/}),
  step('trustadm token create --print-join-command', {shows: /^trustadm join /}),
  step('trustadm token create --ttl 2h --print-join-command', {shows: /^trustadm join /}),
  step('trustadm token list', {shows: /^TOKEN /}),
  step('trustadm token show <id>', {shows: /^id /}),
  step('trustadm token delete 0k2f5a', {
    first: (stage) => must(stage, 'trustadm token create 0k2f5a.x8s0vq1zr5mw7cpd'),
    shows: /bootstrap token "0k2f5a" deleted/,
  }),
  step('trustadm certificate check-expiration --within 30d', {shows: /^CERTIFICATE /}),
  step('trustadm certificate renew all', {shows: /the running server uses the new certificates/}),
  step(JOIN, {on: worker, shows: /This machine is the node "worker-1"/}),
  step('trustadm node run', {on: worker, until: 'ready worker-1'}),
  step('trustadm node run --metrics-address 9153', {on: worker, until: 'ready worker-1'}),
  step('trustadm node run --once --quiet', {on: worker}),
  step('trustadm node status', {on: worker, shows: /Node worker-1/}),
  step('trustadm node renew', {on: worker}),
  step('trustadm join phase cleanup', {on: worker}),
  step('trustadm node list', {shows: /^NAME .*\nworker-1 /}),
  step('trustadm node history worker-1', {shows: / registered /}),
  step('trustadm certificate allow-rejoin worker-1', {
    async first(stage) {
      void stage.begin(JOIN, again).ended.then((ended) => stage.ends.set('again', ended))
      await waitingPin(stage)
    },
    answers: [['Which key may join', `${DOWN}\r`]],
    shows: /may join as "worker-1", once/,
    then: (stage) => until(() => Promise.resolve(stage.ends.get('again')?.code === 0)),
  }),
  step('trustadm certificate allow-rejoin worker-1 --pin sha256:5f2c9a…', {
    async first(stage) {
      void stage.begin(JOIN, last).ended.then((ended) => stage.ends.set('last', ended))
      stage.values.set('waiting pin', await waitingPin(stage))
    },
    shows: /may join as "worker-1", once/,
    then: (stage) => until(() => Promise.resolve(stage.ends.get('last')?.code === 0)),
  }),
  step('trustadm certificate allow-rejoin worker-1 --requester system:bootstrap:abcdef', {
    shows: /authenticates as system:bootstrap:abcdef may join as "worker-1"/,
  }),
  step('trustadm certificate allow-rejoin worker-1 --revoke', {shows: /no machine with a new key/}),
  step('trustadm certificate revoke --node worker-1 --reason "stolen"', {
    answers: [['Revoke', YES]],
    shows: /revoked the key/,
  }),
  step('trustadm certificate list --revoked', {shows: /worker-1 .*stolen/}),
  step('trustadm certificate unrevoke --node worker-1', {shows: /is accepted again/}),
  step('trustadm node leave', {
    on: last,
    answers: [['out of its cluster', YES]],
    then: (stage) => assert.rejects(stat(`${stage.nodeDir(last)}/kubelet.conf`), {code: 'ENOENT'}),
  }),
  step('trustadm certificate revoke --node node-7', {
    first: (stage) => must(stage, JOIN, seven),
    answers: [['Revoke', YES]],
    shows: /revoked the key/,
  }),
  step('trustadm reset --dir <folder of the node>', {
    on: seven,
    answers: [['out of its cluster', YES]],
  }),
  step('trustadm token delete abcdef --with-machines', {
    async first(stage) {
      await must(stage, 'trustadm token create abcdef.x8s0vq1zr5mw7cpd')
      const line = JOIN.replace('--token …', '--token abcdef.x8s0vq1zr5mw7cpd')
      await must(stage, line, {host: 'stranger'})
    },
    answers: [['Revoke', YES]],
    shows: /cordoned node "stranger"/,
  }),
]
