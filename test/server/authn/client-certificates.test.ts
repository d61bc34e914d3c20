import assert from 'node:assert/strict'
import {OID} from '../../../src/pki/oids.ts'
import {verifyCaller} from '../../../src/server/authn/client-certificates.ts'
import {
  CLIENT_AUTH,
  type Made,
  make,
  makeAuthority,
  type Wish,
} from '../../pki/certificate-builder.ts'
import {DAY, NOW} from '../../pki/support.ts'

const notAfter = new Date(NOW.getTime() + 100 * DAY)
const USER = 'system:serviceaccount:kube-system:node-bootstrapper'
const GROUP = 'system:serviceaccounts:kube-system'
const OPENSHIFT = 'openshift-machine-config-operator'

describe('the CAs of bootstrap credentials', () => {
  let cluster: Made
  let signer: Made
  let openshift: Made
  before(async () => {
    cluster = await makeAuthority('kubernetes', {notAfter})
    signer = await makeAuthority('kubelet-bootstrap-kubeconfig-signer', {notAfter})
    openshift = await makeAuthority('kubelet-bootstrap-kubeconfig-signer', {notAfter})
  })

  const check = async (leaf: Made, bootstrap: readonly Made[] = [signer]) => {
    const authorities = {
      cluster: [cluster.certificate],
      bootstrap: [
        {bootstrapper: 'kube-system', certificates: bootstrap.map(({certificate}) => certificate)},
        {bootstrapper: OPENSHIFT, certificates: [openshift.certificate]},
      ],
    }
    return await verifyCaller([leaf.der], authorities, NOW)
  }
  const leafOf = (by: Made, name: Wish['name']) =>
    make({by, extendedUsages: [CLIENT_AUTH], ...(name && {name})})
  const accepted = async (leaf: Made, ...rest: Made[][]) => (await check(leaf, ...rest)).ok

  it('are trusted for the bootstrapper', async () => {
    const leaf = await leafOf(signer, [{CN: [USER]}, {O: [GROUP]}])
    const verdict = await check(leaf)
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.identity, {name: USER, groups: [GROUP]})
    assert.equal(verdict.issuer, signer.certificate.fingerprint)
  })

  const others: [string, Wish['name']][] = [
    ['an administrator', [{CN: ['root']}, {O: ['system:masters']}]],
    ['the bootstrapper as an administrator', [{CN: [USER]}, {O: [GROUP]}, {O: ['system:masters']}]],
    ['a node', [{CN: ['system:node:one']}, {O: ['system:nodes']}]],
    [
      'another service account',
      [{CN: ['system:serviceaccount:kube-system:default']}, {O: [GROUP]}],
    ],
    ['the bootstrapper of another namespace', [{CN: [USER.replace('kube-system', OPENSHIFT)]}]],
    ['nobody', [{O: [GROUP]}]],
    ['the bootstrapper with a uid', [{CN: [USER]}, {[OID.kubernetesUid]: ['1234']}]],
  ]
  for (const [who, name] of others) {
    it(`are not trusted for ${who}`, async () => {
      const verdict = await check(await leafOf(signer, name))
      assert.ok(!verdict.ok)
      assert.match(verdict.reason, /trusted for system:serviceaccount:kube-system:node-bootst/)
    })
  }

  it('are each trusted for the bootstrapper of its own namespace', async () => {
    const user = USER.replace('kube-system', OPENSHIFT)
    const name = [{CN: [user]}, {O: [`system:serviceaccounts:${OPENSHIFT}`]}]
    assert.equal(await accepted(await leafOf(openshift, name)), true)
    assert.equal(await accepted(await leafOf(openshift, [{CN: [USER]}])), false)
  })

  it('take nothing from a CA of the cluster that they repeat', async () => {
    const admin = await leafOf(cluster, [{CN: ['root']}, {O: ['system:masters']}])
    assert.equal(await accepted(admin, [cluster]), true)
  })

  it('are trusted for nobody once they are gone', async () => {
    assert.equal(await accepted(await leafOf(signer, [{CN: [USER]}]), []), false)
  })
})
