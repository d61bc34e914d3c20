import assert from 'node:assert/strict'
import {hostname} from 'node:os'
import {joinView} from '../../../src/cli/views/join.ts'
import type {JoinResult} from '../../../src/node/describe-node.ts'

const result = (more: Partial<JoinResult>): JoinResult => ({
  nodeName: 'one',
  certificate: null,
  kubeconfig: null,
  notAfter: null,
  clusterInfo: null,
  dir: '/node',
  certDir: '/kubelet/pki',
  ...more,
})

describe('what join prints', () => {
  it('says how to start a kubelet: from where, and where it keeps its own kubeconfig and certificates', async () => {
    const text = await joinView.table(result({kubeconfig: '/node/bootstrap-kubelet.conf'}))
    const flags =
      '--bootstrap-kubeconfig /node/bootstrap-kubelet.conf --kubeconfig /node/kubelet.conf --cert-dir /kubelet/pki --hostname-override one'
    assert.ok(text.includes(`start the kubelet with ${flags}\n`), text)
  })

  it('leaves the name to a kubelet that finds the same', async () => {
    const nodeName = hostname().toLowerCase()
    const kubeconfig = '/node/bootstrap-kubelet.conf'
    assert.doesNotMatch(await joinView.table(result({nodeName, kubeconfig})), /hostname-override/)
  })

  it('says until when the certificate is valid, and leaves out what is not known', async () => {
    const notAfter = '2027-01-01T00:00:00.000Z'
    const text = await joinView.table(result({certificate: '/node/pki/current.pem', notAfter}))
    assert.match(text, /^ {2}valid until {2}2027-01-01T00:00:00Z$/m)
    assert.doesNotMatch(text, /CA pin|kubeconfig/)
  })

  it('says how to use the node', async () => {
    const text = await joinView.table(
      result({certificate: '/node/pki/current.pem', kubeconfig: '/node/kubelet.conf'}),
    )
    assert.match(text, /kubectl --kubeconfig \/node\/kubelet\.conf get node one\n/)
  })

  it('says why the Node is NotReady: no kubelet runs', async () => {
    const joined = {certificate: '/node/pki/current.pem', kubeconfig: '/node/kubelet.conf'}
    assert.match(await joinView.table(result(joined)), /NotReady until a kubelet runs/)
    const waiting = {kubeconfig: '/node/bootstrap-kubelet.conf'}
    assert.doesNotMatch(await joinView.table(result(waiting)), /NotReady/)
  })

  it('says that nothing renews the certificate by itself', async () => {
    const joined = {certificate: '/node/pki/current.pem', kubeconfig: '/node/kubelet.conf'}
    assert.match(await joinView.table(result(joined)), /nothing renews the certificate unless/)
    const unit = {path: '/units/trustadm-node.service', content: '[Unit]\n'}
    const printed = await joinView.table(
      result({...joined, nodeRun: {...unit, isInstalled: false}}),
    )
    assert.match(printed, /write this to \/units\/trustadm-node\.service, then run "systemctl /)
    assert.match(printed, /\n\n\[Unit\]\n$/)
    const installed = await joinView.table(
      result({...joined, nodeRun: {...unit, isInstalled: true}}),
    )
    assert.match(installed, /Keep it: +systemctl daemon-reload && systemctl enable --now/)
    assert.doesNotMatch(installed, /\[Unit\]/)
  })
})
