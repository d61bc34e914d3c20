import assert from 'node:assert/strict'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {
  joinCommand,
  joinTarget,
  requireForJoining,
} from '../../../src/control-plane/tokens/join-command.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {authorityValidity} from '../../../src/pki/lifetimes.ts'

const token = parseToken('nh3k2b.x8s0vq1zr5mw7cpd')

describe('the join line', () => {
  const lineTo = (server: string, ...caCertHashes: string[]) =>
    joinCommand({server, caCertHashes}, {token})

  it('has a pin for each CA, and works for kubeadm with the name changed', () => {
    assert.equal(
      lineTo('https://10.0.0.1:6443', 'sha256:aa', 'sha256:bb'),
      'trustadm join 10.0.0.1:6443 --token nh3k2b.x8s0vq1zr5mw7cpd --discovery-token-ca-cert-hash sha256:aa --discovery-token-ca-cert-hash sha256:bb',
    )
  })

  it('names the port that a URL takes for granted', () => {
    assert.match(lineTo('https://api.example.com/'), / join api\.example\.com:443 /)
  })

  it('keeps the brackets of an IPv6 address', () => {
    assert.match(lineTo('https://[fd00::1]:6443'), / join \[fd00::1\]:6443 /)
  })

  it('pins every CA of the kubeconfig', async () => {
    const make = async () =>
      createAuthorityCertificate(
        {commonName: 'kubernetes'},
        await generateKeys(),
        authorityValidity(new Date('2026-11-16T12:00:00Z'), 3_600_000),
      )
    const [one, two] = [await make(), await make()]
    const {caCertHashes} = joinTarget({server: 'https://a:1', ca: one + two})
    assert.deepEqual(
      caCertHashes,
      [one, two].map((pem) => pinOf(parseCertificate(pem))),
    )
  })

  it('is refused without a CA to pin', () => {
    assert.throws(() => joinTarget({server: 'https://a:1'}), {code: 'KUBECONFIG_INVALID'})
  })

  for (const [signing, authentication] of [
    [true, false],
    [false, true],
  ] as const) {
    it(`is refused for a token with signing ${signing} and authentication ${authentication}`, () => {
      assert.throws(() => requireForJoining({usages: {signing, authentication}}), {code: 'USAGE'})
    })
  }
})
