import assert from 'node:assert/strict'
import {sayHowToRenew} from '../../src/cli/ending.ts'
import type {ExpirationReport} from '../../src/control-plane/expiration.ts'
import {captured} from './capture.ts'

const FLAGS = {quiet: false, verbose: false, output: 'table'}
const DAY = 86_400

function reportOf(leaf: number, authority: number): ExpirationReport {
  const common = {
    location: '',
    expirationDate: null,
    current: false,
    pin: null,
    serial: null,
    externallyManaged: false,
    problems: [],
    warnings: [],
  }
  return {
    certificates: [
      {...common, name: 'apiserver', residualSeconds: leaf, certificateAuthority: 'ca'},
    ],
    certificateAuthorities: [{...common, name: 'ca', residualSeconds: authority, signs: true}],
  }
}

describe('what to do about expired certificates', () => {
  const said = async (flags: object, report: ExpirationReport) =>
    (await captured(() => sayHowToRenew({...FLAGS, ...flags}, report))).stderr

  it('is to renew them in the same folder', async () => {
    const text = await said({dir: '/srv/plane'}, reportOf(-DAY, DAY))
    assert.match(text, /renew them with "trustadm certificate renew all --dir \/srv\/plane"/)
  })

  it('is to renew them in the folders of kubeadm, whose CAs are not rotated', async () => {
    const text = await said({'cert-dir': '/etc/kubernetes/pki'}, reportOf(-DAY, -DAY))
    assert.match(text, /"trustadm certificate renew all --cert-dir \/etc\/kubernetes\/pki"/)
  })

  it('is to rotate the CAs if one that signs has expired, too', async () => {
    const text = await said({}, reportOf(-DAY, -DAY))
    assert.match(text, /replace the CAs with "trustadm ca rotate start"/)
    assert.match(text, /renew them with "trustadm certificate renew all"/)
  })

  it('is nothing about CAs that are only trusted', async () => {
    const {certificates, certificateAuthorities} = reportOf(DAY, -DAY)
    const trusted = certificateAuthorities.map((one) => ({...one, signs: false}))
    assert.equal(await said({}, {certificates, certificateAuthorities: trusted}), '')
  })

  it('is not said to programs, nor to those who want quiet, nor of what is only not valid yet', async () => {
    assert.equal(await said({output: 'json'}, reportOf(-DAY, DAY)), '')
    assert.equal(await said({quiet: true}, reportOf(-DAY, DAY)), '')
    assert.equal(await said({}, reportOf(DAY, DAY)), '')
  })
})
